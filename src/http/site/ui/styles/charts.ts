/** Charts and figures of the overviews. */
export const CHARTS = `
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
.usage-chart .day:hover { fill: color-mix(in srgb, var(--soft) 45%, transparent); fill-opacity: .35 }
.page .usage-chart p { display: flex; justify-content: space-between; max-width: none; margin: .15rem 0; color: var(--soft); font-size: .8125rem; font-variant-numeric: tabular-nums }
.page .start h2 { margin: 0 0 .5rem }
.page .steps { display: flex; flex-wrap: wrap; gap: .25rem 2rem; margin: 0 0 .75rem; padding-left: 1.3rem; color: var(--soft) }
.steps li { padding-right: .5rem }
.steps [aria-current] { color: var(--ink); font-weight: 600 }
.steps .reached { color: var(--allow) }
.start .sample { background: var(--paper) }
.page .start .actions { margin: 0 }
.bars { margin: 0 0 1.25rem; max-width: 44rem }
.bars svg { display: block; width: 100%; height: 8rem; border-bottom: 1px solid var(--line) }
.bars figcaption { display: flex; flex-wrap: wrap; justify-content: space-between; gap: .25rem 1rem; margin: .35rem 0 0; color: var(--soft); font-size: .8125rem }
.bars .legend span { margin: 0 .5rem; color: var(--ink) }
.bars .legend span::before { content: ""; display: inline-block; width: .65rem; height: .65rem; margin-right: .35rem; border-radius: 2px; background: currentColor }
.bars .legend .allow::before { color: var(--allow) } .bars .legend .review::before { color: var(--review) } .bars .legend .block::before { color: var(--block) }
.bars rect.allow { fill: var(--allow) } .bars rect.review { fill: var(--review) } .bars rect.block { fill: var(--block) } .bars rect.accent { fill: var(--accent) }
.figures { margin: 0 0 1rem; display: grid; grid-template-columns: repeat(auto-fit, minmax(9rem, 1fr)); gap: .75rem; max-width: 44rem }
.figures div { display: flex; flex-direction: column-reverse; justify-content: flex-end; padding: .8rem 1rem; border: 1px solid var(--line); border-radius: 10px; background: var(--wash) }
.figures dt { color: var(--soft); font-size: .875rem }
.figures dd { margin: 0; font-size: 1.5rem; font-weight: 650; line-height: 1.3; font-variant-numeric: tabular-nums }
`
