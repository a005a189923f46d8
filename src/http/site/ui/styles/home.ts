/** The home page and the forms around the free checker. */
export const HOME = `
@media (scripting: none) { .pass .alternatives { display: none } }
.hero { display: grid; grid-template-columns: minmax(0, 1fr); gap: 2rem; align-items: center } @media (min-width: 56rem) { .hero { grid-template-columns: minmax(0, 1fr) 23rem; gap: 3rem; padding-top: 1.5rem } }
.page .hero h1 { font-size: clamp(2rem, 5vw, 3rem) }
.sample-verdict { margin: 0; box-shadow: 0 12px 32px -16px color-mix(in srgb, var(--ink) 35%, transparent) }
.sample-verdict figcaption { margin: 0 0 .5rem; color: var(--soft); font-size: .8125rem }
.page .chips { display: flex; flex-wrap: wrap; gap: .4rem; align-items: center; color: var(--soft); font-size: .875rem }
.page .chips button { min-height: 1.9rem; height: auto; padding: 0 .7rem; border: 1px solid var(--line); border-radius: 999px; color: var(--ink); background: transparent; font: 400 .875rem/1.4 var(--sans) }
.page .chips button:hover { border-color: var(--ink); background: transparent; color: var(--ink) }
`
