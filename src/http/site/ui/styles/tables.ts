/** Plain tables, whose cells wrap, and what all tables share. */
export const TABLES = `
/* Positioned, so that visually hidden text in a wide table does not widen the page. */
.rows, .scroll { position: relative; margin: 0 0 var(--s4) } .rows { container-type: inline-size; overflow-x: clip } .scroll { overflow-x: auto } .panel > .rows { margin-top: -.5rem } .panel > .rows:last-child { margin-bottom: -.5rem } .panel > nav.actions { margin: 0 }
.rows table, .scroll table { width: 100%; border-collapse: collapse; font-size: .875rem; line-height: 1.25rem } .rows caption, .scroll caption { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap }
.rows th, .rows td, .scroll th, .scroll td { padding: 0 1rem 0 0; border-bottom: 1px solid var(--line); text-align: left; font-weight: 400 } .scroll th, .scroll td { padding-block: .5rem; vertical-align: top }
.rows thead th, .scroll thead th { color: var(--soft); font-size: .8125rem; font-weight: 500; white-space: nowrap } .rows tr > :last-child, .scroll tr > :last-child { padding-right: 0 } .panel tbody tr:last-child > * { border-bottom: 0 }
.scroll tbody th { font-weight: 550 } .scroll tr:target > * { background: var(--accent-wash) } .scroll .number { padding-left: 1rem; text-align: right } .scroll td .hint, .scroll td p { margin: .1rem 0 0; max-width: 26rem } .scroll .sum > * { font-weight: 600 }
.scroll td:empty::before { content: "–"; color: var(--soft) } .scroll .short { white-space: nowrap; font-variant-numeric: tabular-nums } .scroll .address { max-width: 20rem; overflow-wrap: anywhere } .scroll .any, .scroll .name { min-width: 9rem; overflow-wrap: anywhere }
@media (max-width: 44rem) {
  /* Where all cells are numbers it stays a table, whose columns are compared. */
  .scroll th { white-space: normal } .scroll :is(th, .number) { padding-inline: 0 .5rem } .scroll table:where(:has(td:not(.number))) {
    &, & tbody, & tr, & tbody th, & tbody td { display: block } & thead { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%) }
    & tbody tr { padding: .6rem 0; border-bottom: 1px solid var(--line) } & tbody th, & tbody td { padding: .1rem 0; border: 0; text-align: left; white-space: normal; overflow-wrap: anywhere } & td:empty { display: none } & tbody tr > :is(.number, .choice) { display: inline-block; margin-right: 1rem; padding: .1rem 0 } & td::before { content: attr(data-label) ": "; color: var(--soft); font-size: .8125rem } & td:nth-child(2):last-child::before, & td[data-label=""]::before { content: none }
} }
details.panel > summary { padding: 0 } details.panel > .form { margin: var(--s4) 0 0 }
.copy-cell { display: inline-flex; flex-wrap: wrap; gap: .4rem; align-items: center } .copy-cell code { overflow-wrap: anywhere; user-select: all }
`

/** Tables of one line a row, which only signed-in people see, and what filters them. */
export const ROWS = `
.rows th, .rows td { height: 2.5rem; white-space: nowrap } .rows thead th { height: 2.25rem }
.rows :where(tr:has(.action, .button)) > :is(th, td) { height: 3rem } .rows tbody :where(th:has(p)) { padding-block: .6rem } .rows th p { margin: 0; font-weight: 400; color: var(--soft); white-space: normal; overflow-wrap: anywhere }
.rows tbody tr:hover { background: var(--wash) } .rows tbody tr:target { background: var(--accent-wash) }
.rows tbody th { width: 30%; font-weight: 550 } .rows .is-text { max-width: 0; overflow: hidden; text-overflow: ellipsis } .rows :where(.is-number, .is-pill, .is-time, .is-actions) { width: 1% }
.rows .is-number, .rows .is-actions { text-align: right } .rows .is-number, .rows .is-time { font-variant-numeric: tabular-nums } .rows td.is-time, .rows td.is-text, .rows th > code { color: var(--soft); font-weight: 400 }
.rows a + .pill { margin-left: .4rem } .rows td:empty::before { content: "–"; color: var(--soft) } .rows td.is-actions:empty::before { content: none } .rows input { margin: 0 .6rem 0 0; vertical-align: -2px; outline-offset: -1px }
.page .rows a:not(.button) { color: var(--accent); text-decoration: none } .page .rows a:not(.button):hover { text-decoration: underline; text-underline-offset: .2em } .rows a:focus-visible { outline-offset: -2px }
@container (max-width: 38rem) {
  .rows table, .rows tbody { display: block } .rows thead { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%) }
  .rows tbody tr { display: flex; flex-wrap: wrap; align-items: center; padding: .55rem 0; border-bottom: 1px solid var(--line) } .panel .rows tbody tr:last-child { border: 0 } .rows tbody tr::after { content: ""; order: 1; width: 100% }
  .rows tbody th, .rows tbody td { display: block; order: 2; width: auto; height: auto; max-width: 12rem; padding: 0; border: 0; font-size: .8125rem } .rows tbody td { color: var(--soft) } .rows tbody td.is-text { max-width: 12rem } .rows tbody td:has(a) { line-height: 1.5rem }
  .rows tbody th.is-text { order: 0; flex: 1; min-width: 0; max-width: none; font-size: .9375rem; line-height: 1.5rem } .rows .short { white-space: nowrap } .rows tr:has(.button) > th.is-text { white-space: normal; overflow-wrap: anywhere } .rows tbody .on-phone-first { order: 0 } .rows tr:not(:has(.button)) > .on-phone-first:has(.pill), .rows tr:has(th p) > .on-phone-first { align-self: start } .rows tbody .on-phone-hidden, .rows td:empty { display: none }
  .rows td[data-label]::before { content: attr(data-label) " " } .rows th p { font-size: .8125rem; line-height: 1.25rem } .rows tbody td:has(.action) { margin-top: var(--s1) }
  /* A dot stands left of each cell of the second line, and is cut off where a line begins. */
  .rows tbody tr { margin-left: -.9rem } .rows tbody th, .rows tbody td { padding-left: .9rem } .rows tbody td { position: relative } .rows td:not(.on-phone-first)::after, .rows td.is-number[data-label]::before { content: "·"; position: absolute; left: .3rem } .rows td.is-number[data-label]::after { content: " " attr(data-label); position: static }
  .rows tr:has(th input) { & td:not(:last-child) { padding-left: 2.31rem } & td:not(:last-child)::after { content: none } & td.is-text.is-text { flex: 1 0 100%; max-width: none; white-space: normal } }
}
.filter-row { display: flex; flex-wrap: wrap; gap: var(--s2) var(--s4); align-items: center; justify-content: space-between; margin: 0 0 var(--s3) } .filter-row .actions, #live-status { margin: 0 } .head .hint button { margin-left: var(--s2) } .filter-row form { margin-left: auto } .rows th .because { font-weight: 400 }
:has(> .find-row) { flex: 0 1 24rem; min-width: 0 } .find-row { display: flex; gap: var(--s2); align-items: center } .find-row input { flex: 1; min-height: 2rem; font-size: .875rem }
.filter-chips { margin: 0 0 var(--s3); display: flex; flex-wrap: wrap; gap: var(--s2); align-items: center; font-size: .8125rem } .chip { max-width: 100%; padding: .15rem .65rem; overflow: hidden; border: 1px solid var(--line); border-radius: 999px; color: var(--ink); text-decoration: none; text-overflow: ellipsis; white-space: nowrap } .chip:hover { border-color: var(--line-strong) }
@container (min-width: 38.01rem) { .rows:has(select) { & table { table-layout: fixed } & th:first-child { width: 34% } & .is-time { width: auto } & .is-actions { width: 7.5rem; text-align: left } } } .rows .advice { background: none }
.pill.changed { color: var(--accent); background: var(--accent-wash) } .rows:has(select) tbody th { white-space: normal } .rows th label { margin-right: .6rem } .rows select { width: 7.5rem; min-height: 2rem; padding-block: .2rem; font-size: .875rem } .rows .fault { margin: .2rem 0; white-space: normal }
.field-row { display: flex; flex-wrap: wrap; gap: var(--s2) var(--s3); align-items: start; min-width: 0; margin: 0 0 var(--s4); padding: 0; border: 0 } .field-row .field { flex: 1 14rem } .field-row :is(button, .actions) { margin: 0 } .field-row > :is(button, .actions) { margin: 1.6rem 0 0; min-height: 2.5rem }
.field-row:only-child { margin: 0 } form:not(:has(tbody :checked)) > .selection, form:has(tbody :checked) > .hint { display: none } .selection { position: sticky; bottom: 0; padding: var(--s3) 0; background: var(--paper); border-top: 1px solid var(--line) }
@media (max-width: 44rem) { .filter-row form { margin-left: 0 } .field-row > :is(button, .actions) { margin-top: 0; align-self: end } }
`
