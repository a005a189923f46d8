/** @jsxImportSource preact */

import { ROUTES } from "../../../contract/routes.ts"
import { setWantedNotices } from "../../../customers/accounts/mail-switches.ts"
import { MAIL_SWITCHES_ANCHOR, NOTICES, type NoticeKind, OPTIONAL_NOTICES } from "../../../customers/notices/notices.ts"
import { Problem } from "../../response/problem.ts"
import { handlers } from "../../router.ts"
import { ownerChanges } from "../attributed-changes.ts"
import { withFlash } from "../links.ts"
import type { SiteContext } from "../site-context.ts"
import { Panel } from "../ui/panels.tsx"

/** Which of the optional mails the account wants, as a form of the account page. */
export function MailSwitchesSection({ muted }: { readonly muted: ReadonlySet<NoticeKind> }) {
  return (
    <Panel id={MAIL_SWITCHES_ANCHOR} title="Emails">
      <p>
        Choose the emails that you want. We always send emails about sign-ins, new, revoked and leaked keys, and new
        terms.
      </p>
      <form class="form" method="post" action={ROUTES.postMailSwitches.path}>
        <fieldset>
          <legend class="unseen">Emails that you want</legend>
          {OPTIONAL_NOTICES.map(kind => (
            <label class="check" key={kind}>
              <input type="checkbox" name="mail" value={kind} checked={!muted.has(kind)} />
              <span>
                <strong>{NOTICES[kind].title}.</strong> {NOTICES[kind].description}
              </span>
            </label>
          ))}
        </fieldset>
        <button type="submit">Save emails</button>
      </form>
    </Panel>
  )
}

/** Saves the choice. */
export function mailSwitchesRoutes(site: SiteContext) {
  const { pages, guards } = site
  return handlers({
    postMailSwitches: exchange =>
      guards.requireAccount.form(exchange, async ({ account }, form) => {
        if (!(await setWantedNotices(ownerChanges(site, { account }), account.id, form.all("mail"))))
          throw new Problem("not_found", "Your account was deleted a moment ago.")
        return pages.redirect(withFlash(ROUTES.account.path, "emails-saved"), exchange)
      }),
  })
}
