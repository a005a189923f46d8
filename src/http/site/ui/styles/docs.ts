/** The guide: its columns, contents and search. */
export const DOCS = `
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
.find input { box-sizing: border-box; width: 100%; min-height: 2.5rem; padding: .4rem .8rem; color: var(--ink); background: var(--wash); border: 1px solid var(--soft); border-radius: 6px; font: 400 .9375rem/1.4 var(--sans) }
.find input::placeholder { color: var(--soft); opacity: 1 }
.page .find ol { position: absolute; z-index: 5; inset: 100% 0 auto; max-height: 70vh; margin: .35rem 0 0; padding: .35rem; overflow-y: auto; list-style: none; border: 1px solid var(--line); border-radius: 8px; background: var(--paper); box-shadow: 0 12px 32px -16px color-mix(in srgb, var(--ink) 45%, transparent) }
.page .find li { margin: 0 }
.page .find a { display: grid; gap: 0 .75rem; grid-template-columns: 1fr max-content; padding: .5rem .65rem; border-radius: 6px; color: var(--soft); font-size: .875rem; text-decoration: none }
.page .find a:hover, .page .find a:focus { background: var(--wash) }
.find .excerpt { grid-column: 1 / -1; overflow-wrap: anywhere }
.find mark { color: var(--ink); background: var(--review-wash) }
.page a.anchor { color: inherit; text-decoration: none } .page a.anchor:hover { text-decoration: underline }
.turn { display: flex; flex-wrap: wrap; gap: .5rem 2rem; justify-content: space-between; margin: 3.5rem 0 0; padding-top: 1.25rem; border-top: 1px solid var(--line) }
.crumb { display: flex; justify-content: space-between; margin: 0 0 .5rem; font-size: .875rem }
@media (max-width: 40rem) { .pages { padding: 0 1rem } }
`
