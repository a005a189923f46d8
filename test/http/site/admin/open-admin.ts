import { testApp } from "../../../support/app.ts"
import { createBrowser, signedInBrowser } from "../../../support/html-browser.ts"

type Options = Parameters<typeof testApp>[0]

/** The whole app, with `owner@localhost` as its admin, who is signed in and asks for pages and sends forms. */
export async function openAdmin(options: Options = {}) {
  const harness = await testApp({ admins: ["Owner@LOCALHOST"], ...options })
  const admin = await signedInBrowser(harness)
  const by = (cookie: string) => createBrowser(harness.app, { cookie })
  return {
    ...harness,
    /** Asks for a page, as the admin unless another cookie is given. */
    page: (path: string, as = admin.cookie) => by(as).get(path),
    /** Sends a form. */
    form: (path: string, fields: Record<string, string> = {}, as = admin.cookie) => by(as).post(path, fields),
    /** Sends a form and shows the page that it leads to. */
    done: admin.submitAndFollow,
  }
}
