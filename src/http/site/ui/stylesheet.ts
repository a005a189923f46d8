/** The stylesheet of all pages. Rules for content are scoped to `.page`, so that they do not affect the API reference. */
export const STYLESHEET = `
:root {
  color-scheme: light dark;
  --paper: #fdfdfc; --raised: #f5f5f2; --line: #deded8; --ink: #1c1e21; --soft: #595f66; --accent: #2457a6;
  --allow: #17663a; --allow-paper: #e4f3ea; --review: #7a4d00; --review-paper: #fbeed3; --block: #a3211c; --block-paper: #fbe6e4;
  --business: #2457a6; --personal: #c2700a; --disposable: #b3261e; --relay: #7d3fb8; --education: #0d7f7a; --government: #4a7a12; --invalid: #5f656d; --unknown: #a3a8ae;
  --shade: color-mix(in srgb, var(--soft) 45%, transparent);
  --sans: ui-sans-serif, system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", sans-serif;
  --mono: ui-monospace, "SF Mono", "Cascadia Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace;
}
@media (prefers-color-scheme: dark) {
  :root {
    --paper: #141618; --raised: #1c1f22; --line: #33383d; --ink: #e5e7e9; --soft: #a0a7af; --accent: #8fb8f6;
    --allow: #86d6a5; --allow-paper: #17301f; --review: #eebf6b; --review-paper: #362a12; --block: #f6a09a; --block-paper: #3b1c1a;
    --business: #8fb8f6; --personal: #eda24a; --disposable: #ef7f78; --relay: #c29af0; --education: #4fc4bd; --government: #a2cf5f; --invalid: #8b939c; --unknown: #5a6169;
  }
}
html { background: var(--paper); scroll-padding-top: 4.5rem; text-size-adjust: 100%; -webkit-text-size-adjust: 100% }
body { margin: 0; background: var(--paper) }
.site :focus-visible, .top :focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; border-radius: 2px }
.skip { position: absolute; left: -100vw; z-index: 20; padding: .75rem 1rem; background: var(--paper); color: var(--accent) }
.skip:focus { left: 0; top: 0 }

.top {
  position: sticky; top: 0; z-index: 10; box-sizing: border-box; min-height: 3.5rem; padding: 0 1.5rem;
  display: flex; flex-wrap: wrap; align-items: center; gap: 0 2rem; white-space: nowrap;
  font: 400 .9375rem/1.4 var(--sans); background: var(--paper); border-bottom: 1px solid var(--line);
}
.site .top { padding-inline: max(1.5rem, calc((100% - 60rem) / 2)) }
.site.wide .top { padding-inline: max(1.5rem, calc((100% - 76rem) / 2)) }
.top a { color: var(--soft); text-decoration: none }
.top a:hover, .top a[aria-current] { color: var(--ink) }
.top nav { flex: 1; display: flex; flex-wrap: wrap; gap: 0 1.5rem }
.top nav a { padding: .25rem 0; border-bottom: 2px solid transparent }
.top nav a:last-child { margin-left: auto }
.top nav a[aria-current] { border-bottom-color: var(--accent) }
.top .brand { color: var(--ink); font-weight: 650; letter-spacing: -.01em }

.pages { box-sizing: border-box; max-width: 60rem; margin: 3.5rem auto 0; padding: 0 1.5rem; display: grid; grid-template-columns: repeat(auto-fill, minmax(13rem, 1fr)); gap: 1.5rem 2rem; font: 400 .9375rem/1.4 var(--sans) }
.pages p { margin: 0 0 .35rem; color: var(--ink); font-weight: 600 }
.pages ul { margin: 0; padding: 0; list-style: none }
.pages a { display: block; padding: .3rem 0; color: var(--soft); text-decoration: none }
.pages a:hover { color: var(--ink); text-decoration: underline; text-underline-offset: .18em }
.pages a[aria-current] { color: var(--accent); font-weight: 600 }
@media (min-width: 64rem) {
  .columns { max-width: 76rem; margin: 0 auto; padding: 0 1.5rem; display: grid; grid-template-columns: 13rem minmax(0, 1fr); gap: 0 3rem; align-items: start }
  .columns .page { grid-column: 2; grid-row: 1; margin: 0; padding-inline: 0 }
  .columns .pages { grid-column: 1; grid-row: 1; position: sticky; top: 3.5rem; max-height: calc(100vh - 3.5rem); margin: 0 -.25rem; padding: 3rem .25rem 1.5rem; overflow-y: auto; display: block }
  .columns .pages section + section { margin-top: 1.5rem }
  .crumb a[href="#all-pages"] { display: none }
  .wide .bottom { width: min(76rem, 100% - 3rem) }
}

.bottom {
  width: min(60rem, 100% - 3rem); margin: 5rem auto 0; padding: 1.5rem 0 3rem; display: flex; flex-wrap: wrap; gap: .5rem 1.5rem;
  font: 400 .875rem/1.5 var(--sans); border-top: 1px solid var(--line);
}
.bottom a { color: var(--soft) }

.page { max-width: 60rem; margin: 0 auto; padding: 3rem 1.5rem 0; color: var(--ink); font: 400 1rem/1.6 var(--sans) }
.page h1 { margin: 0 0 1rem; overflow-wrap: anywhere; font-size: 2.25rem; font-weight: 650; line-height: 1.15; letter-spacing: -.022em }
.page h2 { margin: 3.5rem 0 .75rem; font-size: 1.3125rem; font-weight: 620; line-height: 1.3; letter-spacing: -.011em }
.page p, .page ul, .page ol { max-width: 44rem; margin: 0 0 1rem; text-wrap: pretty }
.page li { margin: .25rem 0 }
.page .lead { margin-bottom: 1.75rem; color: var(--soft); font-size: 1.1875rem; line-height: 1.55 }
.page .lead code { color: var(--ink) }
.page a { color: var(--accent); text-decoration: underline; text-decoration-thickness: 1px; text-underline-offset: .18em }
/* An underline would cover underscores in a code. */
.page a:has(code) { text-decoration: none }
.page a:has(code):hover { text-decoration: underline; text-underline-offset: .5em }
.page a:hover { text-decoration-thickness: 2px }
.page code { font-family: var(--mono); font-size: .9em; font-variant-ligatures: none }
.page :target { scroll-margin-top: 4.5rem }
.page a.anchor { color: inherit; text-decoration: none }
.page a.anchor:hover { text-decoration: underline }
.page h2 code { font-size: .9em; font-weight: 620 }

.sample { margin: 0 0 1.25rem; border: 1px solid var(--line); border-radius: 8px; background: var(--raised); overflow: hidden }
.sample figcaption { padding: .45rem 1rem; color: var(--soft); font-size: .8125rem; border-bottom: 1px solid var(--line) }
.sample pre { margin: 0; padding: .9rem 1rem; max-height: 26rem; overflow: auto; font-size: .875rem; line-height: 1.6 }
.sample pre code { font-size: 1em }
.sample pre:focus-visible { outline-offset: -2px }

/* Positioned, so that visually hidden text in a wide table does not widen the page. */
.scroll { position: relative; margin: 0 0 1.25rem; overflow-x: auto }
/* A shadow on each side that can be scrolled. Backgrounds that scroll with the table cover the shadows at its ends. */
.scroll {
  background: linear-gradient(var(--paper), var(--paper)) 0 0 / 1rem 100% local no-repeat, linear-gradient(var(--paper), var(--paper)) 100% 0 / 1rem 100% local no-repeat,
    linear-gradient(90deg, var(--shade), transparent) 0 0 / .75rem 100% scroll no-repeat, linear-gradient(270deg, var(--shade), transparent) 100% 0 / .75rem 100% scroll no-repeat;
}
.scroll table { width: 100%; border-collapse: collapse; font-size: .9375rem; line-height: 1.5 }
.scroll caption { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap }
.scroll th, .scroll td { padding: .55rem 1.25rem .55rem 0; text-align: left; vertical-align: top; border-bottom: 1px solid var(--line) }
.scroll th:last-child, .scroll td:last-child { padding-right: 0 }
.scroll thead th { color: var(--soft); font-size: .8125rem; font-weight: 500; white-space: nowrap }
.scroll tbody th { font-weight: 500; white-space: nowrap }
.scroll tbody th:not(:has(code)) { font-weight: 400; white-space: normal; min-width: 12rem }
.scroll tbody tr:target > * { background: var(--raised) }
.scroll td { min-width: 3.5rem }
.scroll td:nth-child(2) { min-width: 11rem }
.scroll .number { font-variant-numeric: tabular-nums; white-space: nowrap }
.scroll .short { white-space: nowrap; font-variant-numeric: tabular-nums }
.scroll .choice { width: 20% }
.scroll .origin { min-width: 15.5rem }
.scroll .refresh { min-width: 7.5rem }
.scroll td .hint { margin: .15rem 0 0; max-width: 26rem }

.advice { display: inline-block; padding: 0 .5rem; border-radius: 999px; font-size: .8125rem; line-height: 1.6; white-space: nowrap }
.allow { color: var(--allow); background: var(--allow-paper) }
.review { color: var(--review); background: var(--review-paper) }
.block { color: var(--block); background: var(--block-paper) }

.ask { max-width: 44rem; margin: 0 0 1.75rem; display: grid; grid-template-columns: 1fr max-content; gap: .4rem .75rem }
.ask label, .page .ask p { grid-column: 1 / -1 }
.ask label { font-weight: 500 }
.ask input, .ask button { box-sizing: border-box; min-width: 0; height: 2.75rem; border-radius: 6px; font: 400 1rem/1.4 var(--sans) }
.ask input { padding: 0 .8rem; color: var(--ink); background: var(--raised); border: 1px solid var(--soft) }
.ask input[aria-invalid="true"] { border-color: var(--block) }
.ask button { padding: 0 1.25rem; color: var(--paper); background: var(--accent); border: 1px solid var(--accent); font-weight: 550; cursor: pointer }
.ask button:hover { background: var(--ink); border-color: var(--ink) }
.page .ask p { margin: 0 }
.page .ask .fault { color: var(--block) }
.page .hint { overflow-wrap: anywhere; color: var(--soft); font-size: .875rem; line-height: 1.5 }
.page h3 { margin: 2rem 0 .6rem; font-size: 1.125rem; font-weight: 600; line-height: 1.35; overflow-wrap: anywhere }

.facts { max-width: 44rem; margin: 0 0 1.25rem; display: grid; grid-template-columns: max-content 1fr; gap: .3rem 1.5rem }
.facts div { display: contents }
.facts dt, .links dd { color: var(--soft) }
.facts dd, .links dd { margin: 0 }
.links { margin: 0; display: grid; grid-template-columns: repeat(auto-fill, minmax(16rem, 1fr)); gap: 1.25rem 2rem }
.links dt { font-weight: 500 }
.links dd { font-size: .9375rem }

.account-bar { display: flex; flex-wrap: wrap; gap: .75rem 1.5rem; align-items: center; justify-content: space-between; margin: 0 0 2.25rem; padding-bottom: .75rem; border-bottom: 1px solid var(--line) }
.account-bar nav { display: flex; flex-wrap: wrap; gap: .25rem 1.25rem }
.page .account-bar nav a { padding: .2rem 0; color: var(--soft); text-decoration: none; border-bottom: 2px solid transparent }
.page .account-bar nav a:hover, .page .account-bar nav a[aria-current] { color: var(--ink) }
.page .account-bar nav a[aria-current] { border-bottom-color: var(--accent) }
.account-bar .who { display: flex; align-items: center; gap: .75rem; min-width: 0; font-size: .875rem; color: var(--soft) }
.account-bar .email { overflow: hidden; text-overflow: ellipsis }

.sections { display: flex; flex-wrap: wrap; gap: .25rem 1.25rem; margin: 0 0 2rem }
.page .sections a { padding: .2rem 0; color: var(--soft); text-decoration: none; border-bottom: 2px solid transparent }
.page .sections a:hover, .page .sections a[aria-current] { color: var(--ink) }
.page .sections a[aria-current] { border-bottom-color: var(--accent) }
.page ul.told { padding-left: 2rem }
.facts dd { min-width: 0; overflow-wrap: anywhere }
.scroll .address { max-width: 20rem; overflow-wrap: anywhere }

.form { max-width: 32rem; margin: 0 0 2rem; display: grid; gap: 1.1rem; justify-items: start }
.field { display: grid; gap: .3rem; width: 100% }
.field label, .form legend { font-weight: 500 }
.field input, .field select, .field textarea {
  box-sizing: border-box; width: 100%; min-height: 2.75rem; padding: .5rem .8rem; color: var(--ink); background: var(--raised);
  border: 1px solid var(--soft); border-radius: 6px; font: 400 1rem/1.4 var(--sans);
}
.field textarea { min-height: 9rem; font-family: var(--mono); font-size: .875rem; resize: vertical }
.field [aria-invalid="true"] { border-color: var(--block) }
.page .field p { margin: 0 }
.form fieldset { width: 100%; margin: 0; padding: 0; border: 0 }
.check { display: flex; gap: .6rem; align-items: baseline }
.page button, .page .button {
  box-sizing: border-box; min-height: 2.75rem; padding: 0 1.25rem; border: 1px solid var(--accent); border-radius: 6px; cursor: pointer;
  color: var(--paper); background: var(--accent); font: 550 1rem/1.4 var(--sans); text-decoration: none; display: inline-flex; align-items: center;
}
.page button:hover, .page .button:hover { background: var(--ink); border-color: var(--ink) }
.page button.small, .page .button.small { min-height: 2rem; padding: 0 .7rem; font-size: .875rem; font-weight: 500; color: var(--accent); background: transparent; border-color: var(--line) }
.page button.small:hover, .page .button.small:hover { color: var(--ink); border-color: var(--ink) }
.page button.danger { color: var(--paper); background: var(--block); border-color: var(--block) }
.page button.danger.small { color: var(--block); background: transparent; border-color: var(--line) }
.page button.danger:hover { color: var(--paper); background: var(--ink); border-color: var(--ink) }
.page button.danger.small:hover { color: var(--block); background: transparent; border-color: var(--block) }
.action { display: inline; margin: 0 }
.actions { display: flex; flex-wrap: wrap; gap: .5rem .75rem; margin: 0 0 1.25rem }
.unseen { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap }
.page .fault { color: var(--block) }
.page .done, .page .boxed, .page .told { max-width: 44rem; margin: 0 0 1.5rem; padding: .75rem 1rem; border-radius: 8px; border: 1px solid var(--line) }
.page .done { color: var(--allow); background: var(--allow-paper); border-color: transparent }
.page .boxed { background: var(--block-paper); border-color: transparent }
.page .told { color: var(--review); background: var(--review-paper); border-color: transparent }
.secret { display: flex; flex-wrap: wrap; gap: .75rem; align-items: center; margin: 0 0 1.25rem; padding: .9rem 1rem; border: 1px solid var(--line); border-radius: 8px; background: var(--raised) }
.secret code { overflow-wrap: anywhere; user-select: all }
.page strong { overflow-wrap: anywhere; color: var(--ink) }

.sample .copied + button { margin: 0 1rem .9rem }
.scroll tbody th.name { white-space: normal; overflow-wrap: anywhere; min-width: 9rem }
.scroll td.number { min-width: 3.5rem }
.page .plain { margin: 0; padding: 0; list-style: none }
.page .plain li { margin: 0; overflow-wrap: anywhere }
.page meter { box-sizing: border-box; width: 100%; max-width: 44rem; height: 1rem; margin: 0 0 1rem }
.chart { margin: 0 0 1.25rem; overflow: hidden }
.chart .u-legend { pointer-events: none; max-width: 100%; color: var(--ink); font: 400 .875rem/1.5 var(--sans); text-align: left; margin: .5rem 0 0 }
.chart .u-legend th { font-weight: 400; cursor: default }
.page summary { padding: .3rem 0; cursor: pointer }
.verdict .asked { display: block; color: var(--soft); font-size: .9375rem; font-weight: 400; letter-spacing: 0; overflow-wrap: anywhere }
.verdict .facts dd { overflow-wrap: anywhere }
.verdict details { margin: 0 0 1.25rem; border: 1px solid var(--line); border-radius: 8px; background: var(--raised) }
.verdict summary { padding: .6rem 1rem; cursor: pointer }
.verdict pre { margin: 0; padding: .9rem 1rem; max-height: 26rem; overflow: auto; font-size: .8125rem; line-height: 1.6; border-top: 1px solid var(--line) }
.page .any { overflow-wrap: anywhere; white-space: pre-wrap }
.scroll tbody th:has(.any) { min-width: 13rem; white-space: normal }
.page time { white-space: nowrap }
.page .told p, .page .boxed p, .page .boxed ul { margin: 0 0 .5rem }
.page .told .actions, .page .boxed .actions { margin: .75rem 0 0 }
.page .told button.small, .page .told .button.small, .page .boxed button.small, .page .boxed .button.small { color: inherit; border-color: currentColor }
.actions { align-items: center }
.page .button.small[aria-current] { color: var(--ink); border-color: var(--ink) }

.page details { margin: 0 0 .75rem }
.page summary { padding: .35rem 0; font-weight: 500; cursor: pointer }
.page details .sample { margin-top: .35rem }
.turn { display: flex; flex-wrap: wrap; gap: .5rem 2rem; justify-content: space-between; margin: 3.5rem 0 0; padding-top: 1.25rem; border-top: 1px solid var(--line) }
.crumb { display: flex; justify-content: space-between; margin: 0 0 .5rem; font-size: .875rem }

@media (max-width: 40rem) {
  .top, .site .top, .site.wide .top { padding-inline: 1rem; column-gap: 1rem }
  .top nav { column-gap: 1rem }
  .pages { padding: 0 1rem }
  .page { padding: 2rem 1rem 0 }
  .page h1 { font-size: 1.875rem }
  .page .lead { font-size: 1.0625rem }
  .sample pre { font-size: .8125rem }
  .facts { gap: .3rem 1rem }
  .scroll tbody th:not(:has(code)) { min-width: 7.5rem }
  .bottom { width: calc(100% - 2rem) }
}
@media print { .top, .bottom, .skip, .pages { display: none } .sample pre { max-height: none } }
`
