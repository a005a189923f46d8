/** Tables. */
export const TABLES = `
/* Positioned, so that visually hidden text in a wide table does not widen the page. */
.scroll { position: relative; margin: 0 0 1.25rem; overflow-x: auto }
/* A shadow on each side that can be scrolled. Backgrounds that scroll with the table cover the shadows at its ends. */
.scroll {
  background: linear-gradient(var(--paper), var(--paper)) 0 0 / 1rem 100% local no-repeat, linear-gradient(var(--paper), var(--paper)) 100% 0 / 1rem 100% local no-repeat,
    linear-gradient(90deg, color-mix(in srgb, var(--soft) 45%, transparent), transparent) 0 0 / .75rem 100% scroll no-repeat, linear-gradient(270deg, color-mix(in srgb, var(--soft) 45%, transparent), transparent) 100% 0 / .75rem 100% scroll no-repeat;
}
.scroll table { width: 100%; border-collapse: collapse; font-size: .9375rem; line-height: 1.5 }
.scroll caption { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap }
.scroll th, .scroll td { padding: .55rem 1.25rem .55rem 0; text-align: left; vertical-align: top; border-bottom: 1px solid var(--line) }
.scroll th:last-child, .scroll td:last-child { padding-right: 0 }
.scroll thead th { color: var(--soft); font-size: .8125rem; font-weight: 500; white-space: nowrap }
.scroll tbody th { font-weight: 500; white-space: nowrap }
.scroll tbody th:not(:has(code)) { font-weight: 400; white-space: normal; min-width: 12rem }
.scroll tbody tr:target > * { background: var(--wash) }
.scroll td { min-width: 3.5rem }
.scroll td:nth-child(2) { min-width: 11rem }
.scroll.compact table { font-size: .875rem }
.scroll.compact th, .scroll.compact td { min-width: 0; padding-right: .9rem }
.scroll.compact td:last-child { max-width: 10rem; overflow-wrap: anywhere }
.scroll .number { font-variant-numeric: tabular-nums; white-space: nowrap }
.scroll .short { white-space: nowrap; font-variant-numeric: tabular-nums }
.scroll .choice { width: 20% }
.scroll .origin { min-width: 15.5rem }
.scroll .refresh { min-width: 7.5rem }
.scroll td .hint { margin: .15rem 0 0; max-width: 26rem }
.sections { display: flex; flex-wrap: wrap; gap: .25rem 1.25rem; margin: 0 0 2rem }
.page .sections a { padding: .2rem 0; color: var(--soft); text-decoration: none; border-bottom: 2px solid transparent }
.page .sections a:hover, .page .sections a[aria-current] { color: var(--ink) }
.page .sections a[aria-current] { border-bottom-color: var(--accent) }
.scroll .address { max-width: 20rem; overflow-wrap: anywhere }
.filters { margin: .75rem 0 1.5rem; display: grid; grid-template-columns: repeat(auto-fill, minmax(13.5rem, 1fr)); gap: .75rem 1rem; align-items: end }
.filters .field { align-self: start; grid-template-columns: minmax(0, 1fr) }
.filters .actions { margin: 0 }
.requests .scroll tbody th, .requests .scroll td { min-width: 0 }
.requests .scroll tbody th p, .requests .scroll td p { margin: 0 }
.requests .scroll th, .requests .scroll td { padding-right: 1rem }
.requests .scroll .hint code { white-space: nowrap } .requests .scroll td > code { overflow-wrap: anywhere } .requests .scroll .advice + code { display: block }
.scroll td.row-actions { min-width: 11rem } .row-actions .button, .row-actions .copy-cell { margin: 0 .4rem .4rem 0 }
.copy-cell { display: inline-flex; flex-wrap: wrap; gap: .4rem; align-items: center }
.copy-cell code { overflow-wrap: anywhere; user-select: all }
.scroll tbody th.name { white-space: normal; overflow-wrap: anywhere; min-width: 9rem }
.scroll td.number { min-width: 3.5rem }
.scroll .sum th, .scroll .sum td { font-weight: 600 }
.selection { max-width: 32rem; margin: 0 0 1.5rem; padding: 1rem 1.25rem; border: 1px solid var(--line); border-radius: 8px }
.selection legend { padding: 0 .4rem; font-weight: 500 }
.selection .actions { margin: .75rem 0 0 }
.scroll tbody th:has(.any) { min-width: 13rem; white-space: normal }
@media (max-width: 40rem) {
  .scroll { overflow-x: visible; background: none }
  .scroll table, .scroll tbody, .scroll tr, .scroll th, .scroll td { display: block }
  .scroll thead { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%) }
  .scroll tbody tr { margin: 0 0 .75rem; padding: .6rem .9rem; border: 1px solid var(--line); border-radius: 8px }
  .scroll tbody th:not(:has(code)), .scroll td:nth-child(2), .scroll td.row-actions { min-width: 0 }
  .scroll tbody th, .scroll tbody td { min-width: 0; width: auto; padding: .15rem 0; border: 0; white-space: normal; overflow-wrap: anywhere }
  .scroll tbody td { position: relative; padding-left: 8.25rem }
  .scroll tbody td[data-label=""] { padding-left: 0 }
  .scroll tbody td::before { content: attr(data-label); position: absolute; left: 0; width: 7.5rem; color: var(--soft); font-size: .8125rem; line-height: 1.85 }
  .scroll.compact tbody td:last-child { max-width: none } .scroll tbody th a { display: inline-block; min-height: 24px }
  .scroll td:empty { display: none }
  .compact .scroll table { display: table }
  .compact .scroll thead { display: table-header-group; position: static; clip-path: none }
  .compact .scroll tbody { display: table-row-group }
  .compact .scroll tr, .compact .scroll tbody tr { display: table-row; border: 0 }
  .compact .scroll tbody th:not(:has(code)), .compact .scroll tbody td:nth-child(2) { min-width: 0 }
  .compact .scroll th, .compact .scroll tbody th, .compact .scroll tbody td { display: table-cell; padding: .45rem .75rem .45rem 0; border-bottom: 1px solid var(--line) }
  .compact .scroll tbody td::before { content: none }
}
.rows { position: relative; container-type: inline-size; margin: 0 0 var(--s4) } .panel > .rows { margin-top: -.5rem } .panel > .rows:last-child { margin-bottom: -.5rem }
.rows table { width: 100%; border-collapse: collapse; font-size: .875rem; line-height: 1.25rem } .rows caption { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap }
.rows th, .rows td { padding: 0 1rem 0 0; border-bottom: 1px solid var(--line); text-align: left; font-weight: 400 } .rows thead th { color: var(--soft); font-size: .8125rem; font-weight: 500 } .rows tr > :last-child { padding-right: 0 } .panel .rows tbody tr:last-child > * { border-bottom: 0 }
.rows th, .rows td { height: 2.5rem; white-space: nowrap } .rows thead th { height: 2.25rem }
.rows tbody tr:hover { background: var(--wash) } .rows tbody tr:target { background: var(--accent-wash) }
.rows tbody th { width: 30%; font-weight: 550 } .rows .is-text { max-width: 0; overflow: hidden; text-overflow: ellipsis } .rows :where(.is-number, .is-pill, .is-time, .is-actions) { width: 1% }
.rows .is-number, .rows .is-actions { text-align: right } .rows .is-number, .rows .is-time { font-variant-numeric: tabular-nums } .rows td.is-time, .rows td.is-text, .rows th > code { color: var(--soft); font-weight: 400 }
.rows td:empty::before { content: "–"; color: var(--soft) } .rows td.is-actions:empty::before { content: none } .rows input { margin: 0 .35rem 0 3px; vertical-align: -2px }
.page .rows a { color: inherit; text-decoration: none } .page .rows a:hover { text-decoration: underline; text-underline-offset: .2em } .rows a:focus-visible { outline-offset: -2px }
@container (max-width: 38rem) {
  .rows table, .rows tbody { display: block } .rows thead { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%) }
  .rows tbody tr { display: flex; flex-wrap: wrap; gap: 0 .35rem; align-items: center; padding: .55rem 0; border-bottom: 1px solid var(--line) } .panel .rows tbody tr:last-child { border: 0 } .rows tbody tr::after { content: ""; order: 1; width: 100% }
  .rows tbody th, .rows tbody td { display: block; order: 2; width: auto; height: auto; max-width: 12rem; padding: 0; border: 0; font-size: .8125rem } .rows tbody td { color: var(--soft) } .rows tbody td.is-text { max-width: 12rem }
  .rows tbody th.is-text { order: 0; flex: 1; min-width: 0; max-width: none; font-size: .9375rem; line-height: 1.5rem } .rows tbody .on-phone-first { order: 0 } .rows tbody .on-phone-hidden, .rows td:empty { display: none }
  .rows td[data-label]::before { content: attr(data-label) " " } .rows td:not(:empty, .on-phone-first, .on-phone-hidden) ~ td:not(.on-phone-first)::before { content: "· " } .rows td:not(:empty, .on-phone-first, .on-phone-hidden) ~ td[data-label]::before { content: "· " attr(data-label) " " }
}
`
