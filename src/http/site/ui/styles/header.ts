/** The header, the footer, the menus, and the columns beside the content. */
export const HEADER = `
.skip { position: absolute; left: -100vw; z-index: 20; padding: .75rem 1rem; background: var(--paper); color: var(--accent) } .skip:focus { left: 0; top: 0 }
.top { position: sticky; top: 0; z-index: 10; height: 3.5rem; padding: 0 max(1.25rem, calc((100% - 65.5rem) / 2)); display: flex; align-items: center; gap: 1.5rem; white-space: nowrap; font-size: .875rem; background: var(--paper); border-bottom: 1px solid var(--line) }
.top a:not(.button) { color: var(--soft); text-decoration: none } .top a:not(.button):hover, .top nav a[aria-current] { color: var(--ink) }
.top > nav { flex: 1; display: flex; gap: 1.25rem } .top nav a[aria-current] { font-weight: 550 }
.top .brand.brand { display: inline-flex; gap: .5rem; align-items: center; color: var(--ink); font-size: .9375rem; font-weight: 650; letter-spacing: -.01em }
.who { display: flex; align-items: center; gap: 1.25rem; min-width: 0 }
.menu { position: relative; min-width: 0; margin: 0 } .menu.more { display: none }
.menu summary { display: flex; gap: .4rem; align-items: center; min-height: 2rem; padding: 0; color: var(--soft); font-weight: 400; list-style: none } .menu summary::-webkit-details-marker { display: none }
.menu summary:hover, .menu[open] summary { color: var(--ink) } .menu summary::after { content: ""; flex: none; width: .35rem; height: .35rem; margin: -.2rem .15rem 0; border: solid; border-width: 0 1.5px 1.5px 0; transform: rotate(45deg) }
.menu .email { max-width: min(16rem, 40vw); overflow: hidden; text-overflow: ellipsis }
.menu-items { position: absolute; right: 0; top: calc(100% + .35rem); z-index: 11; min-width: 11rem; padding: .35rem; border: 1px solid var(--line); border-radius: var(--r-m); background: var(--paper); box-shadow: var(--shadow) } .menu-items form { display: block }
.top .menu-items a, .menu-items button.small { display: block; width: 100%; min-height: 0; padding: .45rem .6rem; border: 0; border-radius: var(--r-s); color: var(--ink); background: transparent; font: inherit; text-align: left; cursor: pointer } .menu-items a:hover, .menu-items button.small:hover { background: var(--wash) }
/* A short page has it at the end of the screen. */
.bottom { position: sticky; top: 100vh; max-width: 65.5rem; margin: var(--s8) auto 0; padding: 1.25rem 0 2.5rem; display: flex; flex-wrap: wrap; align-items: center; gap: .5rem 1.5rem; font-size: .8125rem; border-top: 1px solid var(--line) }
.bottom a { color: var(--soft); text-decoration: none } .bottom a:hover { color: var(--ink); text-decoration: underline } .bottom .theme { margin-left: auto }
@media (max-width: 68rem) { .bottom { margin-inline: 1.25rem } }
.shell { max-width: 68rem; margin: 0 auto; padding: 1.75rem 1.25rem 0; display: grid; grid-template-columns: 11rem minmax(0, 1fr); gap: 0 2.5rem; align-items: start } .shell .page { width: 100%; padding: 0 }
.section-links { position: sticky; top: 4.5rem; font-size: .875rem } .section-links p { margin: var(--s4) .6rem var(--s1); color: var(--soft); font-size: .75rem }
.section-links a { display: block; padding: .35rem .6rem; border-radius: var(--r-s); color: var(--soft); text-decoration: none; white-space: nowrap } .section-links a:hover { color: var(--ink) } .section-links a[aria-current] { color: var(--ink); background: var(--accent-wash); font-weight: 550 } .section-links .apart { margin-top: var(--s4) }
@media (max-width: 60rem) {
  .shell { grid-template-columns: minmax(0, 1fr); padding-top: 0 } .shell .page { padding-top: 1.25rem }
  /* One row that scrolls. For its first moment it snaps to the current item, which is its only point to snap to. */
  .section-links { position: static; display: flex; margin: 0 -1.25rem; padding: 0 .65rem; overflow-x: auto; scrollbar-width: none; border-bottom: 1px solid var(--line); animation: settle .1s !important } .section-links p { display: none }
  .section-links a { flex: none; display: grid; align-content: center; min-height: 2.75rem; padding: 0 .6rem; border-radius: 0 } .section-links a:focus-visible { outline-offset: -2px } .section-links a[aria-current] { background: none; box-shadow: inset 0 -2px var(--accent); scroll-snap-align: center } .section-links .apart { margin: 0 }
  @supports (animation-timeline: scroll()) { .section-links { animation: settle .1s, fade linear, start linear !important; animation-timeline: auto, scroll(self inline), scroll(self inline) !important; mask: linear-gradient(90deg, #0003, #000 var(--side), #000 calc(100% - var(--fade)), #0003) } .section-links:focus-within { animation: none !important; mask: none } }
}
@keyframes settle { from, to { scroll-snap-type: x mandatory } }
@media (max-width: 44rem) { .top { gap: .75rem } .top > nav, .who > a:not(.button) { display: none } .top .brand { flex: 1 } .menu.more { display: block } .menu.more summary::after { display: none } .who { gap: .75rem } }
`
