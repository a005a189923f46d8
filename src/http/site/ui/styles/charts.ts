/** Charts and figures of the overviews. */
export const CHARTS = `
.chart { display: flex; margin: 0; font-variant-numeric: tabular-nums } .chart svg { flex: 1; min-width: 0; height: 172px; overflow: visible }
.chart line { stroke: var(--line) } .chart .base { stroke: var(--line-strong) } .chart rect { fill: var(--tone) } .chart .hit { fill: transparent } .chart g:hover .hit { fill: var(--wash) } .chart .marked .hit { fill: var(--block-wash) } .chart text { fill: var(--soft); font-size: .6875rem }
.page .ticks { flex: none; display: grid; grid-template-rows: repeat(3, 1fr); height: 140px; margin: 10px 0 0; padding-left: .5rem; color: var(--soft); font-size: .6875rem; line-height: 1 } .ticks span { margin-top: -.35rem }
.of-plain { --tone: var(--c-invalid) }
.below-chart { display: flex; flex-wrap: wrap; gap: .25rem 1rem; justify-content: space-between; margin: .6rem 0 .5rem; color: var(--soft); font-size: .8125rem } .page .below-chart > * { margin: 0 }
.page .period a { color: var(--soft); text-decoration: none } .page .period a[aria-current] { color: var(--ink) } .below-chart ~ details summary { width: max-content; color: var(--soft); font-size: .8125rem; font-weight: 400 } .panel > .hint { max-width: none }
.shares { width: 100%; margin: .5rem 0 0; border-collapse: collapse; font-size: .875rem } .shares tr + tr > * { border-top: 1px solid var(--line) } .shares th, .shares td { height: 2.25rem; padding: 0 0 0 .75rem } .shares th { padding: 0; font-weight: 400; text-align: left } .shares td:last-child { width: 4.5rem }
.page .rows td.on-phone-first { width: auto } .spark { display: block; width: 5.5rem; height: 1.25rem } .spark path { fill: var(--c-personal) }
.period, .period form { display: flex; flex-wrap: wrap; gap: var(--s2) var(--s3); align-items: center } .period form { flex-wrap: nowrap; gap: var(--s2); min-width: 0 } .period select { min-height: 2rem; max-width: 14rem; padding: .2rem .5rem; font-size: .8125rem; text-overflow: ellipsis }
.page .latest { max-width: none; margin: 0; padding: 0; list-style: none; font-size: .875rem } .latest li { display: grid; grid-template-columns: minmax(0, 1fr) minmax(0, 1fr) 3.75rem; gap: .75rem; align-items: center; min-height: 2.5rem; border-bottom: 1px solid var(--line) } .latest li:last-child { border: 0 } .page .latest li { margin: 0 }
.latest .pill { justify-self: end } .latest li > :not(.pill) { overflow: hidden; text-overflow: ellipsis; white-space: nowrap } .latest span:not(.pill) { color: var(--soft) } .page .latest a { color: inherit; text-decoration: none } .latest a:hover { text-decoration: underline }
.page .steps { display: grid; grid-template-columns: repeat(3, 1fr); max-width: none; margin: 0 0 var(--s4); padding: 0; list-style: none; counter-reset: step; border: 1px solid var(--line); border-radius: var(--r-m); overflow: hidden }
.page .steps li { display: grid; grid-template-columns: 1.75rem minmax(0, 1fr); gap: 0 .75rem; align-items: center; align-content: center; margin: 0; padding: .9rem 1.1rem; counter-increment: step; box-shadow: -1px -1px 0 var(--line) } .steps small { grid-column: 2; color: var(--soft); font-size: .8125rem }
.steps li::before { content: counter(step); grid-row: 1 / 3; width: 1.75rem; height: 1.75rem; border-radius: 999px; color: var(--soft); background: var(--wash); box-shadow: inset 0 0 0 1px var(--line); font-size: .8125rem; font-weight: 650; line-height: 1.75rem; text-align: center }
.steps .reached::before { content: "✓"; color: var(--allow); background: var(--allow-wash) } .steps [aria-current]::before { color: var(--on-accent); background: var(--accent) }
.start .actions, .start h2 { margin: 0 } .start h2 { margin-bottom: var(--s3); font-size: .9375rem; letter-spacing: 0 }
@media (max-width: 44rem) { .page .steps { grid-template-columns: minmax(0, 1fr) } .period, .period form { width: 100% } .period nav { order: -1 } .period select { flex: 1; max-width: none; min-height: 2.25rem; font-size: 1rem } }
`
