/** The pages of the administration. */
export const ADMIN = `
.todos li { display: flex; flex-wrap: wrap; gap: var(--s2) var(--s4); align-items: center; justify-content: space-between; margin: 0; padding: .55rem 0; border-top: 1px solid var(--line) } .page .todos { max-width: none; margin: 0 } .todos li:first-child { border: 0; padding-top: 0 } .todos li > * { min-width: 0 } .todos p { margin: .2rem 0 0 }
.beside { display: grid; grid-template-columns: minmax(0, 1fr) 17rem; gap: 0 var(--s4); align-items: start }
@media (max-width: 68rem) { .beside { grid-template-columns: minmax(0, 1fr) } }
`
