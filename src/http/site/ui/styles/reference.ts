/** The API reference. */
export const REFERENCE = `
.method { display: inline-block; padding: 0 .45rem; border: 1px solid var(--line); border-radius: 5px; background: var(--wash); font: 600 .75rem/1.25rem var(--mono) }
.method.get { color: var(--allow); background: var(--allow-wash) } .method.post { color: var(--accent); background: var(--accent-wash) } .method.put { color: var(--review); background: var(--review-wash) } .method.delete { color: var(--block); background: var(--block-wash) }
.endpoint { max-width: none; overflow-wrap: anywhere }
.page .operations { max-width: none; margin: 0; padding: 0; border: 1px solid var(--line); border-radius: var(--r-m); list-style: none; overflow: hidden } .page .operations li { margin: 0 } .operations li + li { border-top: 1px solid var(--line) }
.page .operations a { display: grid; grid-template-columns: 4.5rem minmax(0, 1fr) minmax(0, 1fr); gap: .15rem var(--s3); align-items: center; min-height: 2.5rem; padding: .4rem 1rem; color: var(--soft); font-size: .875rem; text-decoration: none } .operations a:hover { background: var(--wash) } .operations code { color: var(--ink); overflow-wrap: anywhere } .operations .method { justify-self: start }
.page .members { max-width: none; margin: 0 0 var(--s4); padding: 0; list-style: none } .page .members li { margin: 0; padding: .6rem 0; border-top: 1px solid var(--line) } .members li:first-child { border-top: 0 }
.members p { margin: 0 0 .15rem; color: var(--soft); font-size: .875rem; line-height: 1.5; overflow-wrap: anywhere } .member { color: var(--ink); font-weight: 600 }
.members details { margin: .2rem 0 0 } .members summary { padding: .15rem 0; color: var(--accent); font-size: .8125rem } .members .members { margin: 0; padding-left: var(--s4); border-left: 2px solid var(--line) }
.type, .presence { color: var(--soft); font-size: .8125rem } .presence { display: inline-block; margin-left: .4rem; padding: 0 .4rem; border: 1px solid var(--line); border-radius: 5px; font-size: .75rem; line-height: 1.15rem } .presence:first-child { margin-left: 0 }
.beside-text { min-width: 0 } .panels .sample { margin-bottom: 0 } .try { display: grid; grid-template-columns: minmax(0, 1fr) max-content; gap: var(--s2) var(--s3); align-items: end; margin: 0 0 var(--s4) } .try .field { margin: 0 } .try .field:first-child { grid-column: 1 / -1 } .try select { width: 100% }
/* The code stays in view beside the text. On narrow screens it is short, between what the operation does and the rest. */
@media (min-width: 68rem) {
  .operation { display: grid; grid-template: auto 1fr / minmax(0, 1fr) 23rem; gap: 0 var(--s6) } .operation > :nth-child(3) { grid-column: 1 }
  .operation .beside-text { grid-area: 1 / 2 / 3; align-self: start; position: sticky; top: 4.5rem; max-height: calc(100vh - 5rem); overflow: hidden auto }
}
.operation > div:last-child > h2:first-child { margin-top: var(--s5) } @media (max-width: 67.99rem) { .beside-text .sample pre { max-height: 12.6rem } }
@media (max-width: 40rem) { .page .operations a { grid-template-columns: 4.5rem minmax(0, 1fr) } .operations a > :last-child { grid-column: 2 } }
`
