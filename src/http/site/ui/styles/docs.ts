/** The guide: its columns, contents, search and front page, and rows that open. */
export const DOCS = `
.columns { max-width: 68rem; margin: 0 auto; padding: 0 1.25rem } .columns .page { padding-inline: 0; font-size: 1rem; line-height: 1.625 } .columns h1 { font-size: 1.75rem }
.columns h2 { margin-top: var(--s7) } .columns .lead { font-size: 1.125rem }
.pages:not(:target) { display: none } .pages { margin: var(--s7) 0 0; border-bottom: 1px solid var(--line); font-size: .875rem; line-height: 1.43 }
.pages details { margin: 0; border-top: 1px solid var(--line) } .pages summary { display: flex; justify-content: space-between; padding: .85rem 0; list-style: none } .pages summary::-webkit-details-marker { display: none } .pages summary::after { content: "▸"; color: var(--soft) } .pages [open] > summary::after { content: "▾" }
.pages ul { margin: 0; padding: 0 0 var(--s2); list-style: none }
.pages a { display: block; padding: .6rem; border-radius: var(--r-s); color: var(--soft); text-decoration: none; overflow-wrap: anywhere } .pages a:hover { color: var(--ink) } .pages a[aria-current] { color: var(--accent); background: var(--accent-wash); font-weight: 550 }
.contents-folded { margin: 0 0 var(--s5); padding: .35rem 0; border-block: 1px solid var(--line); font-size: .875rem; line-height: 1.43 } .contents-folded summary { color: var(--soft); font-size: .8125rem; font-weight: 400 }
.page .contents-folded ul { display: flex; flex-wrap: wrap; gap: 0 1.25rem; max-width: none; margin: 0; padding: 0 0 .35rem; list-style: none } .page .contents-folded li { margin: 0 } .page .contents-folded a { display: block; padding: .25rem 0; color: var(--soft); text-decoration: none } .page .contents-folded a:hover { color: var(--accent); text-decoration: underline }
.columns :is(div, details) > .sample pre { max-height: none } .columns .beside-text .sample pre { max-height: 26rem }
@media (min-width: 60rem) {
  .columns { display: grid; grid-template-columns: 11rem minmax(0, 1fr); gap: 0 var(--s7); align-items: start } .columns .page { grid-area: 1 / 2; margin: 0; max-width: none } .columns .to-pages { display: none }
  .columns .pages { display: block; grid-area: 1 / 1; position: sticky; top: 3.5rem; max-height: calc(100vh - 3.5rem); margin: 0; padding: 2.25rem 0 var(--s5) .6rem; border: 0; overflow-y: auto }
  .pages details { border: 0 } .pages a { padding: .3rem .6rem; margin-left: -.6rem } .pages summary { padding: .35rem 0; font-size: .8125rem }
  /* The contents are folded on narrow screens alone. A browser that cannot show them otherwise shows the fold. */
  .contents-folded { & summary { pointer-events: none; list-style: none } &::details-content { content-visibility: visible; block-size: auto } }
}
.to-pages { margin-left: auto }
.page a.anchor { color: inherit; text-decoration: none } .anchor:hover::after { content: " #"; color: var(--soft) }
.page .turn { display: grid; grid-template-columns: 1fr 1fr; gap: var(--s4); margin: var(--s7) 0 0 } .page .turn a { color: var(--accent); text-decoration: none; padding: .7rem 1rem; border: 1px solid var(--line); border-radius: var(--r-m); font-weight: 550 } .turn a:hover { border-color: var(--line-strong); background: var(--wash) }
.turn .next { grid-column: 2; text-align: right } .turn small { display: block; color: var(--soft); font-size: .8125rem; font-weight: 400 } .as-markdown { margin: var(--s6) 0 0 }
.columns .tiles { grid-template-columns: repeat(3, 1fr) } .columns .tiles dd { font-size: 1.375rem }
.columns .scroll { & em { display: block; color: var(--soft); font-size: .8125rem; font-style: normal; font-weight: 400 } & [scope="rowgroup"] { padding-top: 1.75rem; font-size: 1rem; font-weight: 650 } & td code { overflow-wrap: break-word } & table { font-size: .875rem; line-height: 1.5 } & :is(th, td) { min-width: 0 } & td[data-label="Meaning"] { min-width: 11.5rem } & tbody th:nth-last-child(2) { min-width: 11rem } & .number + :not(.number) { padding-left: 1rem } }
/* Of the columns of codes and words, those of sentences are the wide ones. */
@media (min-width: 44.01rem) { .columns .scroll { & th:first-child:nth-last-child(2) { width: 30% } & tr:has([data-label="Type"]) th { width: 12rem } & tr:has([data-label="Decides"]) th { width: 11rem } & td[data-label="Decides"] { width: 8.5rem } & td[data-label="Confidence"] { width: 8rem } & td[data-label="Meaning"]:not(:last-child, :has(+ [data-label="Decides"])) { width: 52% } & td:is([data-label="While a person waits"], [data-label="In a job"]) { width: 35% } & :is(td:is([data-label="Type"], [data-label="Status"]), th:nth-last-child(2) code), & tr:has([data-label="Category"], [data-label="Status"], [data-label="Publishable"]) th { white-space: nowrap } & td[data-label="Publishable"] { width: 48% } & tr:has([data-label="Above the limit"]) th { width: 12.5rem } & tr:has(th + [data-label="Default"]) th { width: 18rem } & td[data-label="Default"] { width: 22% } } }
.find { position: relative; margin: 0 0 var(--s4) } .find:empty { display: none }
.find input { width: 100%; padding: 0 .8rem }
.page .find ol { position: absolute; z-index: 5; inset: 100% 0 auto; max-height: 70vh; margin: .35rem 0 0; padding: .35rem; overflow-y: auto; list-style: none; border: 1px solid var(--line); border-radius: var(--r-m); background: var(--paper); box-shadow: var(--shadow) } .page .find li { margin: 0 }
.page .find a { display: grid; gap: 0 .75rem; grid-template-columns: 1fr max-content; padding: .5rem .65rem; border-radius: var(--r-s); color: var(--soft); font-size: .875rem; line-height: 1.43; text-decoration: none } .page .find a:hover, .page .find a:focus { background: var(--wash) } .find strong { color: var(--ink) }
.find .excerpt { grid-column: 1 / -1; overflow-wrap: anywhere } .find mark { color: var(--ink); background: var(--review-wash) }

.page .goals { max-width: none; display: grid; grid-template-columns: repeat(auto-fill, minmax(min(18rem, 100%), 1fr)); gap: var(--s4); margin: 0 0 var(--s6) } .page .goals li { position: relative; margin: 0; padding: 1.1rem; border: 1px solid var(--line); border-radius: var(--r-m) }
.goals li:hover { border-color: var(--line-strong); background: var(--wash) } .page .goals a { color: var(--ink); font-weight: 600; text-decoration: none } .goals a::after { content: ""; position: absolute; inset: 0; border-radius: var(--r-m) } .goals p { margin: .15rem 0 0; color: var(--soft); font-size: .875rem; line-height: 1.43 }
.part { display: grid; grid-template-columns: 11rem minmax(0, 1fr); gap: 0 2.25rem; padding: var(--s5) 0; border-top: 1px solid var(--line) } .part h2 { margin: 0; font-size: 1rem; letter-spacing: 0 } .part dl { display: grid; grid-template-columns: 1fr 1fr; gap: var(--s4) 2.25rem } .part dt { font-weight: 550 } .part dd { color: var(--soft); font-size: .875rem; line-height: 1.43 } .page .part a { color: var(--ink); text-decoration: none } .page .part a:hover { color: var(--accent); text-decoration: underline }

.of-problems .cells { grid-template-columns: 3rem 13.5rem minmax(0, 1fr) } .of-problems .cells > .number { text-align: left } .of-problems .cells > code { font-weight: 600 } .page > div > details { margin: 0; border-bottom: 1px solid var(--line) } .page > div > :not(details) + details { border-top: 1px solid var(--line) } .page > div > details + p { margin-top: var(--s4) } .page > div > details > summary { padding: .55rem 0; font-size: .9375rem } .page > div > details .scroll tbody th { font-weight: 400 }
.panel pre { margin: var(--s3) 0 0; font: 400 .8125rem/1.6 var(--mono) } .panel pre.hint { font-family: inherit }
.page ol:has(> li:nth-child(9)) { columns: 14rem; & li { margin: 0 0 .5rem } } .page .index { display: flex; flex-wrap: wrap; gap: .25rem var(--s4); max-width: none; padding: 0; list-style: none; font-size: .875rem }
@media (max-width: 44rem) {
  .columns .tiles { grid-template-columns: 1fr; & div { display: flex; justify-content: space-between; gap: var(--s4); align-items: baseline; padding: .5rem .9rem } & dd { font-size: 1rem; text-align: right } } .columns .facts { grid-template-columns: minmax(0, 1fr) } .columns .facts dd { margin-bottom: .5rem } .columns .scroll .short { white-space: normal } .columns .scroll tbody tr > .choice { margin-right: .5rem } .columns .scroll .choice::before { font-size: .75rem } .columns .scroll .choice:empty { display: none }
  .columns .scroll td:is([data-label="Meaning"], [data-label="Type"])::before { content: none } .columns .scroll tr:has([data-label="Type"]) th, .columns .scroll td[data-label="Type"] { display: inline-block; margin-right: var(--s2) } .columns .scroll td[data-label="Type"] { color: var(--soft) } .columns .scroll td[data-label="Decides"] { display: inline-block; margin-right: 1rem }
  .page .turn { grid-template-columns: minmax(0, 1fr) } .turn .next { grid-column: auto } .part, .part dl { grid-template-columns: minmax(0, 1fr); gap: var(--s3) 0 }
  .of-problems .cells { grid-template-columns: 2rem minmax(0, 1fr) } .of-problems .cells > :nth-child(3) { grid-column: 1 / -1 }
}
@media print { .find, .contents-folded, .turn, .as-markdown, .crumb { display: none } .columns { display: block } details::details-content { content-visibility: visible; block-size: auto } }
`

/** What the guide and the pages of accounts share: the way back above a title, and rows that open for more. */
export const FOLDS = `
.crumb { display: flex; gap: .4rem; margin: 0 0 var(--s2); color: var(--soft); font-size: .8125rem } .page .crumb a { color: inherit; text-decoration: none } .page .crumb a:hover { color: var(--ink) }
.folds { margin: 0 0 1.25rem; border-top: 1px solid var(--line); font-size: .875rem; line-height: 1.43 } .folds > * { margin: 0; border-bottom: 1px solid var(--line) } .folds :target, .folds :target > * { background: var(--accent-wash) }
.cells { display: grid; gap: 0 var(--s4); align-items: baseline; padding: .5rem 0; font-weight: 400 } .folds .cells:hover { color: inherit } summary.cells { list-style: none } summary.cells::-webkit-details-marker { display: none } summary.cells::after { content: "▸"; grid-row: 1; grid-column: -2; color: var(--soft); text-align: center } [open] > summary.cells::after, :target > summary.cells::after { content: "▾" }
.cells > code { overflow-wrap: anywhere; font-size: .8125rem } .cells small { display: block; color: var(--soft); font-size: .8125rem } .folds details > :is(p, dl) { max-width: none; margin: 0; padding: 0 2rem .6rem 0; color: var(--soft) } details:target::details-content { content-visibility: visible; block-size: auto }
.of-sources .cells { grid-template-columns: minmax(0, 1fr) 9.75rem 4rem 5.75rem 1rem } .of-sources .cells > span:not(.wrong, :first-child), .heads { color: var(--soft) } .heads { font-size: .8125rem }
@media (max-width: 44rem) { .of-sources .cells { grid-template-columns: minmax(0, max-content) auto minmax(5rem, 1fr) 1rem } .of-sources .cells > :first-child { grid-column: 1 / 4 } .of-sources .cells { column-gap: .6rem } .of-sources .number { text-align: left; white-space: normal } .wrong + .number::after { content: " entries" } .wrong + .number + .number::before { content: "tried " } .cells.heads { display: none } }
`
