import { LIST_STYLES } from "./list-styles.ts"
import { REFERENCE } from "./styles/reference.ts"

/** The stylesheet of all pages. Rules for content are scoped to `.page`, so that they do not affect the API reference. */
export const STYLESHEET = `
/* light-dark() follows the system, or the colours that the visitor chose. */
:root {
  color-scheme: light dark;
  --paper: light-dark(#ffffff, #111318); --raised: light-dark(#f6f7f9, #1a1d24); --line: light-dark(#dfe2e8, #323743);
  --ink: light-dark(#16181d, #e8eaee); --soft: light-dark(#565d69, #a4abb8); --accent: light-dark(#4338ca, #a5b0ff); --on-accent: light-dark(#ffffff, #111318);
  --allow: light-dark(#11663a, #86d6a5); --allow-paper: light-dark(#e2f5ea, #15301f);
  --review: light-dark(#7a4d00, #eebf6b); --review-paper: light-dark(#fdf0d3, #362a12);
  --block: light-dark(#a3211c, #f6a09a); --block-paper: light-dark(#fde7e5, #3b1c1a);
  --business: light-dark(#2457a6, #8fb8f6); --personal: light-dark(#9a5605, #eda24a); --disposable: light-dark(#b3261e, #ef7f78); --relay: light-dark(#7d3fb8, #c29af0);
  --education: light-dark(#0b6f6a, #4fc4bd); --government: light-dark(#42700e, #a2cf5f); --invalid: light-dark(#565d69, #a4abb8); --unknown: light-dark(#565d69, #a4abb8);
  --shade: color-mix(in srgb, var(--soft) 45%, transparent);
  --sans: ui-sans-serif, system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", sans-serif;
  --mono: ui-monospace, "SF Mono", "Cascadia Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace;
}
:root[data-theme="light"] { color-scheme: light }
:root[data-theme="dark"] { color-scheme: dark }
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
.top nav a:hover, .top a[aria-current] { color: var(--ink) }
.top nav { flex: 1; display: flex; flex-wrap: wrap; gap: 0 1.5rem }
.top nav a { padding: .25rem 0; border-bottom: 2px solid transparent }
.top nav a[aria-current] { border-bottom-color: var(--accent) }
.top .brand { display: inline-flex; gap: .5rem; align-items: center; color: var(--ink); font-weight: 650; letter-spacing: -.01em }
.top .call { padding: .35rem .8rem; border-radius: 6px; color: var(--on-accent); background: var(--accent); font-weight: 550 }
.top .call:hover { color: var(--paper); background: var(--ink) }
.top .theme { box-sizing: border-box; width: 2rem; height: 2rem; padding: 0; border: 1px solid var(--line); border-radius: 50%; background: linear-gradient(90deg, var(--ink) 50%, var(--paper) 50%) content-box; padding: .45rem; cursor: pointer }
.top .theme:hover { border-color: var(--ink) }

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

.contents, .page .contents-folded ul { font: 400 .875rem/1.4 var(--sans) }
.contents { display: none }
.contents p { margin: 0 0 .35rem; color: var(--ink); font-weight: 600 }
.contents ul, .page .contents-folded ul { margin: 0; padding: 0; list-style: none }
.contents a, .page .contents-folded a { display: block; padding: .3rem 0; color: var(--soft); text-decoration: none; overflow-wrap: anywhere }
.contents a:hover, .page .contents-folded a:hover { color: var(--ink); text-decoration: underline; text-underline-offset: .18em }
.page .contents-folded { max-width: 44rem; margin: 0 0 1.5rem; padding: .35rem 1rem; border: 1px solid var(--line); border-radius: 8px }
.page .contents-folded ul { padding-bottom: .35rem }
@media (min-width: 76rem) {
  .columns { max-width: 84rem; grid-template-columns: 12rem minmax(0, 1fr) 11rem; gap: 0 2.5rem }
  .columns .contents { display: block; grid-column: 3; grid-row: 1; position: sticky; top: 3.5rem; box-sizing: border-box; max-height: calc(100vh - 3.5rem); padding: 3rem .25rem 1.5rem; overflow-y: auto }
  .contents-folded { display: none }
  .site.wide:has(.columns) .top { padding-inline: max(1.5rem, calc((100% - 84rem) / 2)) }
  .wide:has(.columns) .bottom { width: min(84rem, 100% - 3rem) }
}
@media (scripting: none) { .pass .alternatives { display: none } }
.find { position: relative; max-width: 44rem; margin: 0 0 1.25rem }
.find:empty { display: none }
.find input { box-sizing: border-box; width: 100%; min-height: 2.5rem; padding: .4rem .8rem; color: var(--ink); background: var(--raised); border: 1px solid var(--soft); border-radius: 6px; font: 400 .9375rem/1.4 var(--sans) }
.find input::placeholder { color: var(--soft); opacity: 1 }
.page .find ol { position: absolute; z-index: 5; inset: 100% 0 auto; max-height: 70vh; margin: .35rem 0 0; padding: .35rem; overflow-y: auto; list-style: none; border: 1px solid var(--line); border-radius: 8px; background: var(--paper); box-shadow: 0 12px 32px -16px color-mix(in srgb, var(--ink) 45%, transparent) }
.page .find li { margin: 0 }
.page .find a { display: grid; gap: 0 .75rem; grid-template-columns: 1fr max-content; padding: .5rem .65rem; border-radius: 6px; color: var(--soft); font-size: .875rem; text-decoration: none }
.page .find a:hover, .page .find a:focus { background: var(--raised) }
.find .excerpt { grid-column: 1 / -1; overflow-wrap: anywhere }
.find mark { color: var(--ink); background: var(--review-paper) }

.bottom {
  width: min(60rem, 100% - 3rem); margin: 5rem auto 0; padding: 1.5rem 0 3rem; display: flex; flex-wrap: wrap; gap: .5rem 1.5rem;
  font: 400 .875rem/1.5 var(--sans); border-top: 1px solid var(--line);
}
.bottom a { color: var(--soft) }
.page { max-width: 60rem; margin: 0 auto; padding: 3rem 1.5rem 0; color: var(--ink); font: 400 1rem/1.6 var(--sans); overflow-wrap: break-word }
.page h1 { margin: 0 0 1rem; overflow-wrap: anywhere; font-size: 2.25rem; font-weight: 650; line-height: 1.15; letter-spacing: -.022em }
.page h2 { margin: 3.5rem 0 .75rem; font-size: 1.3125rem; font-weight: 620; line-height: 1.3; letter-spacing: -.011em }
.page p, .page ul, .page ol { max-width: 44rem; margin: 0 0 1rem; text-wrap: pretty }
.page li { margin: .25rem 0 }
.page .lead { margin-bottom: 1.75rem; color: var(--soft); font-size: 1.1875rem; line-height: 1.55 }
.page .lead code { color: var(--ink) }
.page a { color: var(--accent); text-decoration: underline; text-decoration-thickness: 1px; text-underline-offset: .18em }
/* An underline would cover underscores in a code. */ .page a:has(code) { text-decoration: none }
.page a:has(code):hover { text-decoration: underline; text-underline-offset: .5em }
.page a:hover { text-decoration-thickness: 2px }
.page code { font-family: var(--mono); font-size: .9em; font-variant-ligatures: none } .page code.option { white-space: nowrap }
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
.scroll.compact table { font-size: .875rem }
.scroll.compact th, .scroll.compact td { min-width: 0; padding-right: .9rem }
.scroll.compact td:last-child { max-width: 10rem; overflow-wrap: anywhere }
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
.ask button { padding: 0 1.25rem; color: var(--on-accent); background: var(--accent); border: 1px solid var(--accent); font-weight: 550; cursor: pointer }
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

/* The links of a section: a strip that scrolls sideways, on wide screens a column. */
.section-links { box-sizing: border-box; display: flex; gap: 0 .25rem; padding: .4rem 1rem; overflow-x: auto; white-space: nowrap; border-bottom: 1px solid var(--line); font: 400 .9375rem/1.4 var(--sans) }
.section-links a { flex: none; padding: .4rem .7rem; border-radius: 6px; color: var(--soft); text-decoration: none }
.section-links a:hover { color: var(--ink) }
.section-links a[aria-current] { color: var(--ink); background: var(--raised); font-weight: 550 }
@media (min-width: 64rem) {
  .shell { max-width: 76rem; margin: 0 auto; padding: 0 1.5rem; display: grid; grid-template-columns: 12rem minmax(0, 1fr); gap: 0 3rem; align-items: start }
  .shell .page { width: 100%; margin: 0; padding-inline: 0 }
  .section-links { position: sticky; top: 3.5rem; flex-direction: column; gap: .15rem; margin: 0 -.7rem; padding: 3rem 0 1.5rem; border: 0; overflow: visible }
  .section-links .apart { margin-top: 1rem }
}
.menu { position: relative; min-width: 0 }
.menu summary { display: flex; gap: .4rem; align-items: center; padding: .35rem .7rem; border: 1px solid var(--line); border-radius: 6px; color: var(--ink); cursor: pointer; list-style: none }
.menu summary::-webkit-details-marker { display: none }
.menu summary::after { content: ""; flex: none; width: .35rem; height: .35rem; margin-top: -.2rem; border: solid var(--soft); border-width: 0 2px 2px 0; transform: rotate(45deg) }
.menu summary:hover, .menu[open] summary { border-color: var(--ink) }
.menu .email { display: block; max-width: min(14rem, 42vw); overflow: hidden; text-overflow: ellipsis }
.menu-items { position: absolute; right: 0; top: calc(100% + .35rem); z-index: 11; min-width: 11rem; padding: .35rem; border: 1px solid var(--line); border-radius: 8px; background: var(--paper); box-shadow: 0 12px 32px -16px color-mix(in srgb, var(--ink) 35%, transparent) }
.menu-items form { display: block }
.menu-items a, .menu-items button { box-sizing: border-box; display: block; width: 100%; padding: .45rem .6rem; border: 0; border-radius: 5px; color: var(--ink); background: transparent; font: inherit; text-align: left; cursor: pointer }
.menu-items a:hover, .menu-items button:hover { background: var(--raised) }
.sections { display: flex; flex-wrap: wrap; gap: .25rem 1.25rem; margin: 0 0 2rem }
.page .sections a { padding: .2rem 0; color: var(--soft); text-decoration: none; border-bottom: 2px solid transparent }
.page .sections a:hover, .page .sections a[aria-current] { color: var(--ink) }
.page .sections a[aria-current] { border-bottom-color: var(--accent) }
.page ul.told { padding-left: 2rem }
.facts dd { min-width: 0; overflow-wrap: anywhere }
.scroll .address { max-width: 20rem; overflow-wrap: anywhere }

.form { max-width: 32rem; margin: 0 0 2rem; display: grid; gap: 1.1rem; justify-items: start }
.filters { margin: .75rem 0 1.5rem; display: grid; grid-template-columns: repeat(auto-fill, minmax(13.5rem, 1fr)); gap: .75rem 1rem; align-items: end }
.filters .field { align-self: start; grid-template-columns: minmax(0, 1fr) }
.filters .actions { margin: 0 }
.requests .scroll tbody th, .requests .scroll td { min-width: 0 }
.requests .scroll tbody th p, .requests .scroll td p { margin: 0 }
.requests .scroll th, .requests .scroll td { padding-right: 1rem }
.requests .scroll .hint code { white-space: nowrap } .requests .scroll td > code { overflow-wrap: anywhere } .requests .scroll .advice + code { display: block }
.page button.small[aria-pressed="true"] { color: var(--paper); background: var(--accent); border-color: var(--accent) }
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
.cards { display: grid; grid-template-columns: repeat(auto-fit, minmax(13rem, 1fr)); gap: .75rem; margin: .3rem 0 0 }
.option-card { display: flex; gap: .6rem; align-items: baseline; padding: .8rem 1rem; border: 1px solid var(--soft); border-radius: 8px; background: var(--raised); cursor: pointer }
.option-card:has(:checked) { border-color: var(--accent); box-shadow: inset 0 0 0 1px var(--accent) }
.option-card .hint { display: block }
.wide-field, .form details, .folded { width: 100% }
.folded { display: grid; gap: 1.1rem; padding: .5rem 0 0 }
.form:has([name="kind"][value="secret"]:checked) .for-publishable, .form:has([name="kind"][value="publishable"]:checked) .for-secret { display: none }
.scroll td.row-actions { min-width: 11rem } .row-actions .button, .row-actions .copy-cell { margin: 0 .4rem .4rem 0 }
.copy-cell { display: inline-flex; flex-wrap: wrap; gap: .4rem; align-items: center }
.copy-cell code { overflow-wrap: anywhere; user-select: all }
.check { display: flex; gap: .6rem; align-items: baseline }
.page button, .page .button {
  box-sizing: border-box; min-height: 2.75rem; padding: 0 1.25rem; border: 1px solid var(--accent); border-radius: 6px; cursor: pointer;
  color: var(--on-accent); background: var(--accent); font: 550 1rem/1.4 var(--sans); text-decoration: none; display: inline-flex; align-items: center;
}
.page button:hover, .page .button:hover { background: var(--ink); border-color: var(--ink) }
.page button.small, .page .button.small { min-height: 2rem; padding: 0 .7rem; font-size: .875rem; font-weight: 500; color: var(--accent); background: transparent; border-color: var(--line) }
.page button.small:hover, .page .button.small:hover { color: var(--ink); border-color: var(--ink) }
.page button.danger { color: var(--paper); background: var(--block); border-color: var(--block) }
.page button.danger.small { color: var(--block); background: transparent; border-color: var(--line) }
.page .mailkind button { min-height: 2rem; padding: .2rem .7rem; color: var(--accent); background: transparent; border-color: var(--soft); text-align: left; overflow-wrap: anywhere } .page .mailkind button:hover { color: var(--ink) } .page button.danger:hover { color: var(--paper); background: var(--ink); border-color: var(--ink) }
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

.scroll tbody th.name { white-space: normal; overflow-wrap: anywhere; min-width: 9rem }
.scroll td.number { min-width: 3.5rem }
.page .plain { margin: 0; padding: 0; list-style: none }
.page .plain li { margin: 0; overflow-wrap: anywhere }
.page meter { box-sizing: border-box; width: 100%; max-width: 44rem; height: 1rem; margin: 0 0 1rem }
.page .left strong, .page .total strong { font-size: 2rem; font-weight: 680; line-height: 1.2; letter-spacing: -.02em; font-variant-numeric: tabular-nums }
.page .left { margin-bottom: .25rem }
.usage-filter { display: flex; flex-wrap: wrap; gap: .75rem 2rem; align-items: end; justify-content: space-between; margin: 0 0 1.25rem }
.usage-filter .actions { margin: 0 }
.usage-filter form { display: flex; gap: .5rem; max-width: 100%; align-items: end; min-width: 0 }
.usage-filter .field { flex: 1; width: auto; min-width: 0; grid-template-columns: max-content minmax(0, 1fr); align-items: center; gap: .6rem }
.usage-filter select { min-height: 2rem; padding: .2rem .5rem; font-size: .875rem; text-overflow: ellipsis }
.usage-chart { margin: 0 0 1.5rem }
.usage-chart svg { display: block; width: 100%; height: 12rem; border-top: 1px solid var(--line); border-bottom: 1px solid var(--soft) }
.usage-chart .line { fill: none; stroke: var(--line); vector-effect: non-scaling-stroke }
.usage-chart path, .swatch { fill: var(--tone) }
.usage-chart .of-unknown, .swatch.of-unknown { fill-opacity: .5 }
.usage-chart .day { fill: transparent }
.usage-chart .day:hover { fill: var(--shade); fill-opacity: .35 }
.page .usage-chart p { display: flex; justify-content: space-between; max-width: none; margin: .15rem 0; color: var(--soft); font-size: .8125rem; font-variant-numeric: tabular-nums }
.scroll .sum th, .scroll .sum td { font-weight: 600 }
.page .hint .line { display: block }
.selection { max-width: 32rem; margin: 0 0 1.5rem; padding: 1rem 1.25rem; border: 1px solid var(--line); border-radius: 8px }
.selection legend { padding: 0 .4rem; font-weight: 500 }
.selection .actions { margin: .75rem 0 0 }
.page .start h2 { margin: 0 0 .5rem }
.page .steps { display: flex; flex-wrap: wrap; gap: .25rem 2rem; margin: 0 0 .75rem; padding-left: 1.3rem; color: var(--soft) }
.steps li { padding-right: .5rem }
.steps [aria-current] { color: var(--ink); font-weight: 600 }
.steps .reached { color: var(--allow) }
.start .sample { background: var(--paper) }
.page .start .actions { margin: 0 }
.card { box-sizing: border-box; max-width: 44rem; margin: 0 0 2rem; padding: 1.25rem 1.5rem; border: 1px solid var(--line); border-top: 4px solid var(--tone, var(--accent)); border-radius: 12px; background: var(--raised) }
.page [tabindex="-1"]:focus { outline: none }
.page form[aria-busy="true"] button { opacity: .6; cursor: progress }

.of-business { --tone: var(--business) } .of-personal { --tone: var(--personal) } .of-disposable { --tone: var(--disposable) } .of-relay { --tone: var(--relay) }
.of-lookalike { --tone: var(--block) } .of-education { --tone: var(--education) } .of-government { --tone: var(--government) } .of-invalid { --tone: var(--invalid) } .of-unknown { --tone: var(--unknown) }
.page .asked + h2 { margin-top: .25rem } .card .asked { margin: 0; color: var(--soft); font-size: .9375rem; overflow-wrap: anywhere }
.decision { display: flex; gap: 1rem; align-items: center; justify-content: space-between; margin: .1rem 0 .5rem }
.page .decision h2, .page .decision .category { margin: 0; color: var(--tone); font-size: 1.75rem; font-weight: 680; line-height: 1.2; letter-spacing: -.02em }
.page .stamp { margin: 0; padding: .25rem 1.1rem; border-radius: 8px; font-size: 1.375rem; font-weight: 680; line-height: 1.4 }
.page .decision h2 { min-width: 0; overflow-wrap: anywhere }
.page .sure + .hint { margin: .35rem 0 0 }
.page .meaning { margin: 0 0 .75rem; font-size: 1.0625rem }
.page .sure { display: grid; grid-template-columns: 9rem minmax(0, 1fr); gap: .75rem; align-items: center; margin: 0; color: var(--soft); font-size: .9375rem }
.sure .track { fill: var(--line) } .sure .filled { fill: var(--tone) }
.page .card h3 { margin: 1rem 0 .25rem; font-size: 1rem }
.page .why { margin: 0 0 1rem; padding-left: 1.2rem }
.page .why li { overflow-wrap: anywhere }
.page .warnings { margin: 0 0 1rem; padding: 0; list-style: none; display: grid; gap: .5rem }
.warnings li { margin: 0; padding: .6rem .9rem; border-radius: 8px; font-size: 1.0625rem; font-weight: 600; overflow-wrap: anywhere }
.warnings .danger { color: var(--block); background: var(--block-paper) }
.warnings .notice { color: var(--review); background: var(--review-paper) }
.warnings strong, .page .warnings button.small { color: inherit }
.page .warnings button.small { border-color: currentColor }
.page .warnings .action { display: inline-block; margin: .25rem 0 0 }
.page .card .button.small, .page .card button.small { border-color: var(--soft) }
.card details { margin: 0 0 .25rem }
.card pre { margin: 0; padding: .9rem 1rem; max-height: 26rem; overflow: auto; font-size: .8125rem; line-height: 1.6; border: 1px solid var(--line); border-radius: 8px; background: var(--paper) }
.page .card > .hint { margin: .75rem 0 0 }
.card .scroll { background: none }

.hero { display: grid; grid-template-columns: minmax(0, 1fr); gap: 2rem; align-items: center } @media (min-width: 56rem) { .hero { grid-template-columns: minmax(0, 1fr) 23rem; gap: 3rem; padding-top: 1.5rem } }
.page .hero h1 { font-size: clamp(2rem, 5vw, 3rem) }
.sample-verdict { margin: 0; box-shadow: 0 12px 32px -16px color-mix(in srgb, var(--ink) 35%, transparent) }
.sample-verdict figcaption { margin: 0 0 .5rem; color: var(--soft); font-size: .8125rem }
.page .chips { display: flex; flex-wrap: wrap; gap: .4rem; align-items: center; color: var(--soft); font-size: .875rem }
.page .chips button { min-height: 1.9rem; height: auto; padding: 0 .7rem; border: 1px solid var(--line); border-radius: 999px; color: var(--ink); background: transparent; font: 400 .875rem/1.4 var(--sans) }
.page .chips button:hover { border-color: var(--ink); background: transparent; color: var(--ink) }
.bars { margin: 0 0 1.25rem; max-width: 44rem }
.bars svg { display: block; width: 100%; height: 8rem; border-bottom: 1px solid var(--line) }
.bars figcaption { display: flex; flex-wrap: wrap; justify-content: space-between; gap: .25rem 1rem; margin: .35rem 0 0; color: var(--soft); font-size: .8125rem }
.bars .legend span { margin: 0 .5rem; color: var(--ink) }
.bars .legend span::before { content: ""; display: inline-block; width: .65rem; height: .65rem; margin-right: .35rem; border-radius: 2px; background: currentColor }
.bars .legend .allow::before { color: var(--allow) } .bars .legend .review::before { color: var(--review) } .bars .legend .block::before { color: var(--block) }
.bars rect.allow { fill: var(--allow) } .bars rect.review { fill: var(--review) } .bars rect.block { fill: var(--block) } .bars rect.accent { fill: var(--accent) }
.page .wrong { color: var(--block) }
.figures { margin: 0 0 1rem; display: grid; grid-template-columns: repeat(auto-fit, minmax(9rem, 1fr)); gap: .75rem; max-width: 44rem }
.figures div { display: flex; flex-direction: column-reverse; justify-content: flex-end; padding: .8rem 1rem; border: 1px solid var(--line); border-radius: 10px; background: var(--raised) }
.figures dt { color: var(--soft); font-size: .875rem }
.figures dd { margin: 0; font-size: 1.5rem; font-weight: 650; line-height: 1.3; font-variant-numeric: tabular-nums }

.tabs { position: relative; min-width: 0; margin: 0 0 1.25rem; padding: 0; border: 0; display: flex; flex-wrap: wrap; gap: 0 .25rem }
.tabs > input { position: absolute; opacity: 0; width: 1px; height: 1px; margin: 0 }
.tabs > label { padding: .4rem .9rem; color: var(--soft); border-bottom: 2px solid transparent; cursor: pointer; font-size: .9375rem }
.tabs > input:checked + label { color: var(--ink); border-bottom-color: var(--accent); font-weight: 550 }
.tabs > input:focus-visible + label { outline: 2px solid var(--accent); outline-offset: -2px }
.panels { width: 100%; min-width: 0 }
.panels > div { display: none }
.tabs > input:nth-of-type(1):checked ~ .panels > :nth-child(1), .tabs > input:nth-of-type(2):checked ~ .panels > :nth-child(2), .tabs > input:nth-of-type(3):checked ~ .panels > :nth-child(3),
.tabs > input:nth-of-type(4):checked ~ .panels > :nth-child(4), .tabs > input:nth-of-type(5):checked ~ .panels > :nth-child(5), .tabs > input:nth-of-type(6):checked ~ .panels > :nth-child(6) { display: block }
.sample figcaption { display: flex; align-items: center; justify-content: space-between; gap: 1rem; min-height: 1.75rem }
.page .sample figcaption button.small { min-height: 1.75rem }
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
  .facts.terms { grid-template-columns: minmax(0, 1fr) } .facts.terms dd { margin-bottom: .5rem }
  .top nav { flex: none; order: 3; width: 100%; overflow-x: auto; flex-wrap: nowrap }
  .top .brand { flex: 1 }
  .top { padding-block: .4rem }
  .card { padding: 1rem }
  html { scroll-padding-top: 6rem }
  .page .decision h2 { font-size: 1.5rem }
  .page .stamp { padding-inline: .8rem; font-size: 1.25rem }
  .page .sure { grid-template-columns: 6rem minmax(0, 1fr) }
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
  .tabs > label { padding-inline: .6rem } .bars .legend { order: 1; width: 100% }
  .scroll td:empty { display: none }
  .compact .scroll table { display: table }
  .compact .scroll thead { display: table-header-group; position: static; clip-path: none }
  .compact .scroll tbody { display: table-row-group }
  .compact .scroll tr, .compact .scroll tbody tr { display: table-row; border: 0 }
  .compact .scroll tbody th:not(:has(code)), .compact .scroll tbody td:nth-child(2) { min-width: 0 }
  .compact .scroll th, .compact .scroll tbody th, .compact .scroll tbody td { display: table-cell; padding: .45rem .75rem .45rem 0; border-bottom: 1px solid var(--line) }
  .compact .scroll tbody td::before { content: none }
  .bottom { width: calc(100% - 2rem) }
}
${LIST_STYLES}${REFERENCE}@media print { .top, .bottom, .skip, .pages { display: none } .sample pre { max-height: none } }
`
