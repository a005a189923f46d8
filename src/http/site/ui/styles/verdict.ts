/** A verdict with its reasons and evidence. */
export const VERDICT = `
.cards { display: grid; grid-template-columns: repeat(auto-fit, minmax(13rem, 1fr)); gap: .75rem; margin: .3rem 0 0 }
.page .mailkind button { min-height: 2rem; padding: .2rem .7rem; color: var(--accent); background: transparent; border-color: var(--soft); text-align: left; overflow-wrap: anywhere } .page .mailkind button:hover { color: var(--ink) } .page button.danger:hover { color: var(--paper); background: var(--ink); border-color: var(--ink) }
.card { box-sizing: border-box; max-width: 44rem; margin: 0 0 2rem; padding: 1.25rem 1.5rem; border: 1px solid var(--line); border-top: 4px solid var(--tone, var(--accent)); border-radius: 12px; background: var(--wash) }
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
.warnings .danger { color: var(--block); background: var(--block-wash) }
.warnings .notice { color: var(--review); background: var(--review-wash) }
.warnings strong, .page .warnings button.small { color: inherit }
.page .warnings button.small { border-color: currentColor }
.page .warnings .action { display: inline-block; margin: .25rem 0 0 }
.page .card .button.small, .page .card button.small { border-color: var(--soft) }
.card details { margin: 0 0 .25rem }
.card pre { margin: 0; padding: .9rem 1rem; max-height: 26rem; overflow: auto; font-size: .8125rem; line-height: 1.6; border: 1px solid var(--line); border-radius: 8px; background: var(--paper) }
.page .card > .hint { margin: .75rem 0 0 }
.card .scroll { background: none }
`
