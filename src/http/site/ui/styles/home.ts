/** The home page, the forms around the free checker, and the sign-in. */
export const HOME = `
.hero { display: grid; gap: var(--s6); align-items: center; padding-bottom: var(--s6) } .hero > * { min-width: 0 }
.hero h1 { margin: 0; font-size: clamp(2.25rem, 4.6vw, 3.25rem); font-weight: 680; line-height: 1.06; letter-spacing: -.03em } .hero .lead { max-width: 34rem; margin: var(--s4) 0 var(--s5) } .hero .ask { margin: 0 }
.feed { border: 1px solid var(--line); border-radius: var(--r-l); background: var(--paper); box-shadow: var(--shadow); overflow: hidden } .feed > p { display: flex; justify-content: space-between; max-width: none; margin: 0; padding: .65rem 1rem; color: var(--soft); background: var(--wash); font-size: .8125rem }
.feed .row { display: grid; grid-template-columns: minmax(0, 1fr) auto; gap: .1rem .75rem; width: 100%; padding: .6rem 1rem; border: 0; border-top: 1px solid var(--line); border-radius: 0; color: var(--ink); background: none; font: 400 .9375rem/1.5 var(--sans); text-align: left } .feed button.row:hover { background: var(--wash) } .feed .row:focus-visible { outline-offset: -2px }
.row b { font-weight: 550; overflow-wrap: anywhere } .row .swatch { width: 9px; margin-right: .6rem } .row small { grid-column: 1 / -1; padding-left: calc(9px + .6rem); color: var(--soft); font-size: .8125rem }
.proof div { display: flex; flex-direction: column-reverse; justify-content: flex-end } .home .tiles dd { font-size: clamp(1.125rem, 5vw, 1.375rem) }
.sub { max-width: none; margin-bottom: var(--s4); color: var(--soft) } .home h2 { margin: var(--s8) 0 var(--s1) } .home .sample { margin: 0 }
.prices p { max-width: none; color: var(--soft) }
.pair { display: grid; gap: var(--s4); align-items: start } .pair > * { margin: 0 }
.hero .why { margin-top: var(--s4) } .home .scroll p { margin: 0; font-weight: 400 }
@media (min-width: 56rem) { .hero { grid-template-columns: minmax(0, 1.05fr) minmax(0, 1fr); gap: var(--s7); padding: var(--s6) 0 var(--s7) } .pair { grid-template-columns: minmax(0, 1fr) minmax(0, 1fr) } .pair .sample { min-height: 14.6rem } .pair > .sample:last-child { margin-top: 2.325rem } .host { display: grid; grid-template-columns: minmax(0, 1fr) minmax(0, 1fr); gap: var(--s4); align-items: end; margin-top: var(--s8) } .host h2 { margin-top: 0 } .host p { margin: 0 } }
@media (max-width: 44rem) { .pair pre { padding-inline: .75rem; font-size: .75rem; white-space: pre-wrap } }
/* The plans stand beside each other. */
@media (min-width: 44.01rem) { .home .prices { & table, & tr, & tr > * { display: block; padding: 0; border: 0; text-align: left } & thead { display: none } & tbody { display: grid; grid-template-columns: repeat(auto-fit, minmax(11rem, 1fr)); border: 1px solid var(--line); border-radius: var(--r-m); overflow: hidden } & tr { padding: .9rem 1.1rem; box-shadow: -1px -1px 0 var(--line) } & td { font-size: 1.125rem; font-weight: 550; line-height: 1.5 } & td::before { content: attr(data-label); display: block; margin-top: var(--s2); color: var(--soft); font-size: .8125rem; font-weight: 400 } } }
@media (max-width: 56rem) { .home h2 { margin-top: var(--s7) } }
.signing { max-width: 24rem; margin: var(--s5) auto 0 } .signing .form { margin: 0 0 var(--s5) } .signing .form > button { width: 100% } .signing .actions:has(form) { display: grid; & :is(form, button) { width: 100% } } .signing [name="code"] { min-height: 3rem; font: 550 1.5rem/1.4 var(--mono); letter-spacing: .3em }
.pass altcha-widget { display: block; max-width: 100% }
`
