/** The pages of whole lists. */
export const LISTS = `
.page progress { box-sizing: border-box; display: block; width: 100%; max-width: 44rem; height: .75rem; margin: 0 0 .35rem; border: 0; border-radius: 999px; overflow: hidden; background: var(--line); color: var(--accent); appearance: none; -webkit-appearance: none }
.page progress::-webkit-progress-bar { background: var(--line) } .page progress::-webkit-progress-value { background: var(--accent) } .page progress::-moz-progress-bar { background: var(--accent) }
.page .sum-line { display: flex; flex-wrap: wrap; gap: .1rem 1.25rem; color: var(--soft); font-size: .9375rem; font-variant-numeric: tabular-nums }
.is-live .refresh-link { display: none }
.of-allow { --tone: var(--allow) } .of-review { --tone: var(--review) } .of-block { --tone: var(--block) }
.list-charts .bar { width: 40% } .list-charts .bar svg { display: block; max-width: 22rem; margin-top: .3rem } .list-charts .bar .filled { fill: var(--tone) } .list-charts .bar .of-unknown .filled { fill-opacity: .5 }
.list-charts { max-width: 44rem } .page .list-charts h2 { margin-top: 2rem }
.page input[type="file"] { padding: .6rem .8rem }
.form.dropping { outline: 2px dashed var(--accent); outline-offset: .75rem; border-radius: 8px }
.first-rows { overflow-x: auto; border: 1px solid var(--line); border-radius: 8px }
.first-rows table { border-collapse: collapse; font-size: .8125rem; line-height: 1.5 }
.first-rows th, .first-rows td { padding: .35rem .75rem; text-align: left; white-space: nowrap; border-bottom: 1px solid var(--line) }
.first-rows tr:last-child td { border-bottom: 0 }
.first-rows th { color: var(--soft); font-weight: 500 } .first-rows .chosen { color: var(--ink); background: var(--wash); font-weight: 600 }
.reading-fields { grid-template-columns: repeat(auto-fit, minmax(min(17rem, 100%), 1fr)); align-items: start } .reading-fields .check { grid-column: 1 / -1 }
.page .because { color: var(--soft) } #preview .line { display: block } .first-rows { margin: 0 0 .75rem } .first-rows th, .first-rows td { max-width: 15rem; overflow: hidden; text-overflow: ellipsis; vertical-align: top }
#list-form { max-width: 44rem; grid-template-columns: minmax(0, 1fr) } #list-form > .field { max-width: 32rem } #list-form .actions { align-items: center } .page #preview h3 { margin: 0 0 .75rem }
@media (scripting: enabled) { .without-script { display: none } }
@media (max-width: 40rem) { .list-charts .bar { width: 30% } #list-facts .facts { grid-template-columns: minmax(0, 9rem) minmax(0, 1fr) } }
`
