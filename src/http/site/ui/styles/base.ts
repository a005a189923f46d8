/** Text, links, code, and what every page may use: panels, tiles, pills, notices, empty states. */
export const BASE = `
*, ::before, ::after { box-sizing: border-box }
html { background: var(--paper); scroll-padding-top: 4.5rem; text-size-adjust: 100%; -webkit-text-size-adjust: 100%; accent-color: var(--accent) }
body { min-height: 100vh; margin: 0; background: var(--paper); color: var(--ink); font: 400 .9375rem/1.6 var(--sans); overflow-wrap: break-word }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px }
[tabindex="-1"]:focus { outline: none }
a, button, .button, summary, input, select, textarea, tr { transition: color .12s, background-color .12s, border-color .12s }
@media (prefers-reduced-motion: reduce) { * { transition: none !important; animation: none !important } }
.page { max-width: 68rem; margin: 0 auto; padding: 2.25rem 1.25rem 0 }
h1, h2, h3, h4 { margin: 0; overflow-wrap: anywhere; font-weight: 650; text-wrap: balance }
h1 { font-size: 1.5rem; line-height: 1.25; letter-spacing: -.02em; margin-bottom: var(--s4) }
h2 { font-size: 1.375rem; line-height: 1.27; letter-spacing: -.015em; margin: var(--s6) 0 var(--s3) }
h3 { font-size: 1rem; line-height: 1.4; margin: var(--s5) 0 var(--s2) }
p, .page ul, .page ol { max-width: 40rem; margin: 0 0 var(--s4); text-wrap: pretty }
.page li { margin: .25rem 0 }
.page ul.plain { padding: 0; list-style: none } .plain li { overflow-wrap: anywhere }
dl, dd, figure { margin: 0 }
strong { font-weight: 650; overflow-wrap: anywhere }
.lead { margin-bottom: var(--s5); color: var(--soft); font-size: 1.125rem; line-height: 1.5 }
.page a:not([class]) { color: var(--accent); text-decoration: underline; text-decoration-thickness: 1px; text-underline-offset: .18em }
.page a:hover { text-decoration-thickness: 2px }
/* An underline would cover underscores in a code. */
.page a:not([class]):has(code) { text-decoration: none }
.page a:not([class]):has(code):hover { text-decoration: underline; text-underline-offset: .5em }
code { font-family: var(--mono); font-size: .9em; font-variant-ligatures: none } code.option { white-space: nowrap }
time { white-space: nowrap }
.any { overflow-wrap: anywhere; white-space: pre-wrap }
.hint { color: var(--soft); font-size: .8125rem; line-height: 1.54; overflow-wrap: anywhere } .hint .line { display: block } .shell .page > .hint { max-width: none }
.because { color: var(--soft) } .wrong, .fault { color: var(--block) }
.number { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap }
.unseen { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap }
details { margin: 0 0 var(--s3) }
summary { padding: .35rem 0; font-weight: 550; cursor: pointer } summary:hover { color: var(--accent) }

.head { display: flex; flex-wrap: wrap; gap: var(--s2) var(--s4); justify-content: space-between; align-items: center; margin: 0 0 1.25rem } .head h1 { margin: 0 } .head > .pill { margin-right: auto }
.panel { border: 1px solid var(--line); border-radius: var(--r-m); padding: 1.1rem; margin: 0 0 var(--s4); min-width: 0 }
.panel-head { display: flex; flex-wrap: wrap; gap: var(--s1) var(--s4); justify-content: space-between; align-items: baseline; margin: 0 0 var(--s3) } .panel-head h2 { margin: 0; font-size: .9375rem; line-height: 1.5; letter-spacing: 0; font-weight: 600 }
.panel-head > a:not([class]) { font-size: .8125rem; text-decoration: none } .panel-head > a:hover { text-decoration: underline }
.panel > :last-child, .panel td p:last-child { margin-bottom: 0 }
.two { display: grid; grid-template-columns: minmax(0, 1fr) minmax(0, 1fr); gap: 0 var(--s4) }
.tiles { display: grid; grid-template-columns: repeat(auto-fit, minmax(10.5rem, 1fr)); margin: 0 0 var(--s4); border: 1px solid var(--line); border-radius: var(--r-m); overflow: hidden }
.tiles div { padding: .9rem 1.1rem; box-shadow: -1px -1px 0 var(--line) } .tiles dt { color: var(--soft); font-size: .8125rem }
.tiles dd { font-size: 1.625rem; font-weight: 650; line-height: 1.4; letter-spacing: -.02em; font-variant-numeric: tabular-nums; overflow-wrap: anywhere } .tiles small { display: block; color: var(--soft); font-size: .8125rem; font-weight: 400; line-height: 1.54; letter-spacing: 0 }
.pill { display: inline-block; padding: 0 .55rem; border-radius: 999px; font-size: .75rem; font-weight: 600; line-height: 1.5rem; white-space: nowrap; text-transform: capitalize }
.pill.as-is { text-transform: none } .pill.ended { color: var(--soft); background: var(--line) }
.segmented { display: inline-flex; max-width: 100%; overflow-x: auto; border: 1px solid var(--line); border-radius: 8px; font-size: .8125rem } .page .segmented a { padding: .35rem .75rem; color: var(--soft); text-decoration: none; white-space: nowrap } .segmented a + a { border-left: 1px solid var(--line) }
.page .segmented a:hover { color: var(--ink) } .page .segmented a[aria-current] { color: var(--ink); background: var(--wash); font-weight: 550 } .segmented a:focus-visible { outline-offset: -2px }
.split { display: flex; gap: 2px; height: .875rem; border-radius: 7px; overflow: hidden; background: var(--line) } .split svg { display: block; width: 100%; height: 100% } .split rect, .swatch { fill: var(--tone) }
.legend { display: flex; flex-wrap: wrap; gap: .25rem 1rem; margin: .6rem 0 0; padding: 0; color: var(--soft); font-size: .8125rem; list-style: none } .page .legend li { margin: 0 } .swatch { width: 9px; height: 9px; margin-right: .4rem }
.panel:has(> .empty) { padding: 0; border: 0 } .empty { margin: 0 0 var(--s4); padding: 2.25rem 1.25rem; border: 1px dashed var(--line-strong); border-radius: var(--r-l); background: var(--wash); text-align: center } .empty svg { display: block; margin: 0 auto var(--s3) } .empty p { margin-inline: auto }
.notice { display: flex; flex-wrap: wrap; gap: var(--s2) var(--s4); align-items: center; justify-content: space-between; margin: 0 0 var(--s4); padding: .7rem 1rem; border-radius: var(--r-m); border: 1px solid var(--line); overflow-wrap: anywhere }
.notice > div, .notice > p { min-width: 0; margin: 0 } .notice > div { flex: 1 1 16rem } .notice p + p { margin-top: var(--s2) } .notice.allow, .notice.review, .notice.block { border-color: transparent } .notice .actions { margin: 0 }
.done, .told, .boxed { max-width: 40rem; margin: 0 0 var(--s4); padding: .7rem 1rem; border-radius: var(--r-m); overflow-wrap: anywhere } .done { color: var(--allow); background: var(--allow-wash) } .told { color: var(--review); background: var(--review-wash) } .boxed { color: var(--block); background: var(--block-wash) } .told a, .boxed a { color: inherit }
.notice a:not([class]), .notice strong, .notice .small { color: inherit } .notice .small { background: transparent; border-color: currentColor }

.sample { margin: 0 0 1.25rem; border: 1px solid var(--line); border-radius: var(--r-m); background: var(--wash); overflow: hidden; min-width: 0 }
.sample figcaption { overflow-wrap: anywhere; display: flex; align-items: center; justify-content: space-between; gap: var(--s4); min-height: 2.25rem; padding: .2rem .5rem .2rem 1rem; color: var(--soft); font-size: .8125rem; border-bottom: 1px solid var(--line) }
/* What is below the end of a box that scrolls fades, until it is reached. */
@property --fade { syntax: "<length>"; inherits: false; initial-value: 0px } @keyframes fade { from, 90% { --fade: 3rem } to { --fade: 0px } }
@property --side { syntax: "<length>"; inherits: false; initial-value: 0px } @keyframes side { from, 90% { --side: 3rem } to { --side: 0px } } @keyframes start { from { --side: 0px } 10%, to { --side: 3rem } }
@supports (animation-timeline: scroll()) { .sample pre, .pages { animation: fade linear, side linear; animation-timeline: scroll(self), scroll(self inline); mask: linear-gradient(#000 calc(100% - var(--fade)), #0003), linear-gradient(90deg, #000 calc(100% - var(--side)), #0000); mask-composite: intersect } .sample pre:focus-visible { mask: none } }
.sample pre { margin: 0; padding: .9rem 1rem; max-height: 26rem; overflow: auto; font-size: .8125rem; line-height: 1.6 } .sample pre code { font-size: 1em } .sample pre:focus-visible { outline-offset: -2px }
.sample figcaption button.small { flex: none; white-space: nowrap; min-height: 1.75rem; border-color: transparent; background: transparent } .sample figcaption button.small:hover { border-color: var(--line) }
/* Keywords, strings, numbers, comments and names, at least 4.5 : 1 on the ground of a sample. */
.hk { color: light-dark(#6d3bb8, #c9a6f5) } .hs { color: light-dark(#0b6658, #7fd0bd) } .hn { color: light-dark(#93430b, #efb07a) } .hc { color: var(--soft) } .ha { color: light-dark(#1f58a8, #92bdf7) }
.facts { max-width: 40rem; margin: 0 0 1.25rem; display: grid; grid-template-columns: max-content minmax(0, 1fr); gap: .3rem var(--s5) } .facts div { display: contents } .facts dt, .links dd { color: var(--soft) } .facts dd { overflow-wrap: anywhere } .facts dd p { margin: 0 }
.links { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(16rem, 100%), 1fr)); gap: 1.25rem var(--s6) } .links dt { font-weight: 550 }
.tabs { position: relative; min-width: 0; margin: 0 0 1.25rem; padding: 0; border: 0; display: flex; flex-wrap: wrap; gap: 0 .25rem }
.tabs > input { position: absolute; opacity: 0; width: 1px; height: 1px; margin: 0 }
.tabs > label { padding: .4rem .75rem; color: var(--soft); border-bottom: 2px solid transparent; cursor: pointer; font-size: .875rem } .tabs > label:hover { color: var(--ink) }
.tabs > input:checked + label { color: var(--ink); border-bottom-color: var(--accent); font-weight: 550 } .tabs > input:focus-visible + label { outline: 2px solid var(--accent); outline-offset: -2px }
.panels { width: 100%; min-width: 0 } .panels > div { display: none }
.tabs > input:nth-of-type(1):checked ~ .panels > :nth-child(1), .tabs > input:nth-of-type(2):checked ~ .panels > :nth-child(2), .tabs > input:nth-of-type(3):checked ~ .panels > :nth-child(3),
.tabs > input:nth-of-type(4):checked ~ .panels > :nth-child(4), .tabs > input:nth-of-type(5):checked ~ .panels > :nth-child(5), .tabs > input:nth-of-type(6):checked ~ .panels > :nth-child(6) { display: block }
@media (max-width: 44rem) { .page { padding-top: 1.5rem } .tabs { gap: 0 } .tabs > label { padding-inline: .5rem } .two { grid-template-columns: minmax(0, 1fr) } .facts { gap: .3rem var(--s4) } .facts.terms { grid-template-columns: minmax(0, 1fr) } .facts.terms dd { margin-bottom: .5rem } .lead { font-size: 1.0625rem } .tiles { grid-template-columns: 1fr 1fr } .tiles :nth-child(odd):last-child { grid-column: 1 / -1 } .tiles dd { font-size: clamp(1rem, 4.8vw, 1.625rem) } }
@media print { .top, .bottom, .skip, .pages, .section-links { display: none } .sample pre { max-height: none } }
`
