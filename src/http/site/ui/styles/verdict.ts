/** A verdict: what it is and why, and the evidence beside it. Its columns stand below each other where there is too little room. */
export const VERDICT = `
.verdict-area { container-type: inline-size; margin: var(--s5) 0; scroll-margin-top: 20rem } .verdict-area .notice { margin-bottom: var(--s2) } .verdict-area .notice strong { font-weight: 600 }
.verdict { display: grid; border: 1px solid var(--line); border-radius: var(--r-l); background: var(--paper); box-shadow: var(--shadow); overflow: hidden } .notice + .verdict { margin-top: var(--s4) }
.verdict > * { min-width: 0; padding: 1.25rem } .v-side { border-top: 1px solid var(--line); background: var(--wash); font-size: .875rem }
.v-head { display: flex; gap: var(--s3) } .v-head > div { min-width: 0 }
.v-mark { flex: none; display: grid; place-items: center; width: 2.5rem; height: 2.5rem; margin-top: .5rem; border-radius: var(--r-m) } .v-mark svg { width: 1.375rem; height: 1.375rem }
.icon path { fill: none; stroke: currentColor; stroke-width: 2; stroke-linecap: round; stroke-linejoin: round }
.v-subject { margin: 0 0 .1rem; color: var(--soft); font-size: .875rem; line-height: 1.43; overflow-wrap: anywhere } .verdict :is(h2, h3) { margin: 0; font-size: 1.75rem; line-height: 1.15; letter-spacing: -.02em } .verdict .pill { vertical-align: .3rem; letter-spacing: 0 }
.v-meaning { margin: var(--s4) 0 0; font-size: 1.0625rem; line-height: 1.53 }
.page .why { max-width: 40rem; margin: var(--s3) 0 0; padding: 0; list-style: none } .why li { display: grid; grid-template-columns: 1rem minmax(0, 1fr); gap: .6rem; margin: 0; padding: .3rem 0; overflow-wrap: anywhere } .why .icon { margin-top: .25rem } .why .good { color: var(--allow) } .why .bad { color: var(--block) } .why .info { color: var(--soft) }
.v-main .actions { gap: var(--s2); margin: 1.1rem 0 0 } .v-main .actions > a:not(.button) { padding: .2rem 0; font-size: .8125rem; white-space: nowrap } [data-copy] { display: contents } .v-main .hint { margin: var(--s4) 0 0 } .v-raw { margin: var(--s3) 0 0; font-size: .8125rem } .v-raw summary { color: var(--soft); font-weight: 400 } .v-raw .hint { margin: 0 0 var(--s2) } .v-raw .hint a { display: inline-block; padding: .2rem 0 }
.v-raw pre { margin: var(--s2) 0 0; padding: .75rem 1rem; max-height: 20rem; overflow: auto; border: 1px solid var(--line); border-radius: var(--r-m); background: var(--wash); font-size: .8125rem; line-height: 1.6 }
.v-sure { display: flex; flex-direction: column; margin: 0; color: var(--soft) } .v-sure strong { color: var(--ink); font-size: 1.375rem; line-height: 1.35; letter-spacing: -.01em; font-variant-numeric: tabular-nums } .v-side .hint { margin: var(--s2) 0 0 }
.v-steps { display: flex; gap: 3px; margin: .5rem 0 0 } .v-steps i { flex: 1; height: 6px; border-radius: 3px; background: var(--line) } .v-steps .on { background: var(--soft) }
.kv { display: grid; gap: .4rem } .v-side .kv:not(:first-child):not(:empty) { margin-top: 1.25rem } .kv div { display: flex; gap: var(--s4); justify-content: space-between; align-items: baseline } .kv dt { flex: none; color: var(--soft) } .kv dd { min-width: 0; text-align: right; overflow-wrap: anywhere; font-variant-numeric: tabular-nums }
.empty .actions { justify-content: center; margin: 0 }
.ask-options { display: flex; flex-wrap: wrap; gap: var(--s2) var(--s5); align-items: center; margin: var(--s3) 0 0; font-size: .875rem } .ask-options label[for] { margin-right: .4rem } .ask-options select { width: auto; min-height: 2rem; padding: 0 .5rem; font-size: .875rem }
.page .mailkind button { min-height: 2rem; padding: .2rem .7rem; color: var(--accent); background: transparent; border-color: var(--line-strong); text-align: left; overflow-wrap: anywhere } .page .mailkind button:hover { color: var(--ink) }
@media (max-width: 44rem) { .verdict :is(h2, h3) { font-size: 1.375rem } [data-copy] .small { padding: 0 .4rem } .ask-options .more { display: none } }
@container (min-width: 44rem) { .verdict { grid-template-columns: minmax(0, 1fr) min(20rem, 40%) } .verdict > * { padding: var(--s5) } .v-side { border-top: 0; border-left: 1px solid var(--line) } }
`
