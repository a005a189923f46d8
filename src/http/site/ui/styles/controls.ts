/** Buttons, fields and forms. */
export const CONTROLS = `
button, .button { display: inline-flex; align-items: center; justify-content: center; gap: .4rem; min-height: 2.5rem; padding: 0 1rem; border: 1px solid transparent; border-radius: var(--r-s); color: var(--on-accent); background: var(--accent); font: 550 .9375rem/1.3 var(--sans); text-decoration: none; cursor: pointer }
button:hover, .button:hover { background: color-mix(in srgb, var(--accent) 86%, var(--ink)) }
button.quiet, .button.quiet, button.small, .button.small, button.danger { color: var(--ink); background: var(--paper); border-color: var(--line) } button.quiet:hover, .button.quiet:hover, button.small:hover, .button.small:hover, button.danger:hover { background: var(--wash); border-color: var(--line-strong) }
button.small, .button.small { min-height: 2rem; padding: 0 .75rem; font-size: .8125rem } button.danger, button.danger.small, button.danger:hover { color: var(--block) }
.danger.primary.primary { color: var(--paper); background: var(--block); border-color: transparent } .danger.primary.primary:hover { background: color-mix(in srgb, var(--block) 86%, var(--ink)) } .small.primary.primary { color: var(--on-accent); background: var(--accent); border-color: transparent }
button.small[aria-pressed="true"], .button.small[aria-current] { color: var(--accent); background: var(--accent-wash); border-color: var(--accent) }
button:disabled, form[aria-busy="true"] button { opacity: .6; cursor: progress }
.action { display: inline; margin: 0 }
.actions { display: flex; flex-wrap: wrap; gap: var(--s2) var(--s3); align-items: center; margin: 0 0 1.25rem }
.theme.theme { width: 1.75rem; min-height: 1.75rem; padding: .35rem; border: 1px solid var(--line); border-radius: 50%; background: linear-gradient(90deg, var(--soft) 50%, var(--paper) 50%) content-box } .theme:hover { border-color: var(--line-strong) }
.form { max-width: 32rem; margin: 0 0 var(--s6); display: grid; gap: 1.1rem; justify-items: start } .panel .form, .panel.form > * { margin: 0 } .panel.form { max-width: 40rem } .form + details { margin-top: var(--s3) }
.field { display: grid; gap: .3rem; width: 100%; min-width: 0 } .field label, .form legend { padding: 0; font-size: .8125rem; font-weight: 550 } .field p { margin: 0 } .field .fault { font-size: .875rem }
input:not([type="checkbox"], [type="radio"], [type="hidden"]), select, textarea { width: 100%; min-width: 0; min-height: 2.5rem; padding: .4rem .75rem; color: var(--ink); background: var(--paper); border: 1px solid var(--line-strong); border-radius: var(--r-s); font: 400 .9375rem/1.4 var(--sans) }
input::placeholder, textarea::placeholder { color: var(--soft); opacity: 1 } textarea { min-height: 9rem; font-family: var(--mono); font-size: .8125rem; resize: vertical } textarea:is([name="comment"], [name="note"], [name="reason"]) { min-height: 5.5rem; font-family: var(--sans); font-size: 1rem }
input:not([type="checkbox"], [type="radio"]):hover, select:hover, textarea:hover { border-color: var(--ink) } [aria-invalid="true"][id] { border-color: var(--block) }
input[type="file"] { padding: .25rem } ::file-selector-button { min-height: 1.75rem; margin-right: .75rem; padding: 0 .75rem; border: 1px solid var(--line); border-radius: 4px; color: var(--ink); background: var(--wash); font: 550 .8125rem var(--sans); cursor: pointer }
.form fieldset { width: 100%; min-width: 0; margin: 0; padding: 0; border: 0 } .wide-field, .form details { width: 100%; margin: 0 } .wide-field textarea { min-height: 5.5rem }
.folded { display: grid; align-items: start; grid-template-columns: repeat(auto-fit, minmax(min(12rem, 100%), 1fr)); gap: 1.1rem; padding: var(--s2) 0 0 } .folded > :is(.field:first-child, .wide-field) { grid-column: 1 / -1 }
.cards { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(12rem, 100%), 1fr)); gap: var(--s3); margin: .3rem 0 0 }
.option-card { display: flex; gap: .6rem; align-items: baseline; padding: .8rem 1rem; border: 1px solid var(--line-strong); border-radius: var(--r-m); cursor: pointer } .option-card:hover { background: var(--wash) } .option-card:has(:checked) { border-color: var(--accent); background: var(--accent-wash); box-shadow: inset 0 0 0 1px var(--accent) } .option-card .hint { display: block }
.form:has([name="kind"][value="secret"]:checked) .for-publishable, .form:has([name="kind"][value="publishable"]:checked) .for-secret { display: none }
.check { display: flex; gap: .6rem; align-items: baseline } .check input { margin: 0; translate: 0 2px } .check .hint { display: block }
.form:has(.switches) { max-width: none } .form .switches { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(19rem, 100%), 1fr)); gap: var(--s4) var(--s5); font-weight: 550 } .switches .hint { font-weight: 400 }
.ask { margin: 0 0 var(--s4) } .ask-row { display: flex; padding: 4px; border: 1px solid var(--line-strong); border-radius: var(--r-m); background: var(--paper); box-shadow: var(--shadow) }
.ask .ask-row input { flex: 1; border: 0; background: none; outline-offset: 0; font-size: 1rem } .ask-row:has(input:focus-visible) { outline: 2px solid var(--accent); outline-offset: 2px; & input { outline: 0 } } .ask-row:has([aria-invalid]) { border-color: var(--block) } .ask p { margin: var(--s2) 0 0 }
.secret { display: flex; flex-wrap: wrap; gap: .75rem; align-items: center; margin: 0 0 1.25rem; padding: .9rem 1rem; border: 1px solid var(--line); border-radius: var(--r-m); background: var(--wash) } .secret code { overflow-wrap: anywhere; user-select: all }
@media (max-width: 44rem) { input:not([type="checkbox"], [type="radio"]), select, textarea { font-size: 1rem } }
`
