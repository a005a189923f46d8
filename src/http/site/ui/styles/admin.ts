/** The pages of the administration. */
export const ADMIN = `
.todos li { display: flex; gap: var(--s2) var(--s4); align-items: center; justify-content: space-between; margin: 0; padding: .55rem 0; border-top: 1px solid var(--line) } .page .todos { max-width: none; margin: 0 } .todos li:first-child { border: 0; padding-top: 0 } .todos li > span { min-width: 0; padding-left: .95rem; text-indent: -.95rem } .todos .button { flex: none; text-indent: 0 } .todos li:last-child { padding-bottom: 0 }
.head .legend { margin: 0 } .panel > .two { row-gap: .3rem } .two > .facts { grid-template-columns: 7.25rem minmax(0, 1fr) } .tabs .hint { margin: var(--s3) 0 0 } .two > .facts, .panel .tabs, .tabs .below-chart { margin-bottom: 0 } :is(.two, .opener) textarea { min-height: 4.5rem } .page .split + .legend { max-width: none; margin: .6rem 0 0 } .notice > div > p { margin: 0 }
search ~ .panel .rows tbody th { width: 28% }
/* On phones an entry of the audit log has two texts in a line. */
@container (max-width: 38rem) { .rows tbody td.is-text:is(.on-phone-first, :has(+ .is-time:last-child)) { max-width: 9rem } .rows td.is-text a { display: block; overflow: hidden; text-overflow: ellipsis } }
@container (max-width: 18rem) { .rows tbody td.is-text.on-phone-first { max-width: 6.5rem } }
/* A button beside the title that opens a form below it. */
.head > .actions { display: contents } .head > .actions > :first-child { margin-left: auto } .head details { margin: 0 } .head .opener[open] { order: 1; width: 100% } .head .opener > .form { margin: var(--s3) 0 0; max-width: none } .form > :is(.actions, p) { margin: 0 } .opener[open] > .button { color: var(--ink); background: var(--paper); border-color: var(--line) } .opener .field { max-width: 32rem }
.tiers .cards { grid-template-columns: repeat(auto-fit, minmax(8.75rem, 1fr)); gap: var(--s2) } .tiers .option-card { gap: .5rem; padding: .6rem .7rem } .tiers legend { padding: 0 } .tiers b { font-size: .875rem; white-space: nowrap } .panel:has(.tiers) .form { max-width: none }
.filter-bar { display: flex; flex-wrap: wrap; gap: var(--s2) var(--s3); align-items: end; margin: 0 0 var(--s4) } .filter-bar .field { flex: 1 1 7.5rem } .filter-bar .field:has([type="search"]) { flex: 3 1 15rem } .filter-bar .actions { margin: 0; font-size: .875rem }
@media (max-width: 30rem) { .facts time { white-space: normal } }
@media (min-width: 44rem) { .filter-bar :is(input, select) { min-height: 2rem; padding-block: .2rem; font-size: .875rem } }
`
