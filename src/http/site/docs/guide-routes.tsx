/** @jsxImportSource preact */
import { Elysia } from "elysia"
import { ROUTES } from "../../../contract/routes.ts"
import type { TierLimits } from "../../../customers/quota/tier-limits.ts"
import type { Inventory } from "../../../licences/inventory.ts"
import type { Assets } from "../assets.ts"
import type { PageResponses } from "../page-responses.ts"
import { DegradedPage } from "./degraded-page.tsx"
import type { DeployFiles } from "./deploy-section.tsx"
import type { ExampleFacts } from "./examples.ts"
import { GuideIndex } from "./guide-page.tsx"
import { KeysPage } from "./keys-page.tsx"
import { LicencesPage, partAsked } from "./licences-page.tsx"
import { LimitsPage } from "./limits-page.tsx"
import type { ShownExamination } from "./looking-after-section.tsx"
import { PoliciesPage } from "./policies-page.tsx"
import { PrivacyPage } from "./privacy-page.tsx"
import { ScalingPage } from "./scaling-page.tsx"
import { SelfHostingPage, type ShownSetting } from "./self-hosting-page.tsx"
import { SignUpFormsPage } from "./sign-up-forms-page.tsx"
import { StartPage } from "./start-page.tsx"
import { UpgradesPage } from "./upgrades-page.tsx"

/** What the guide tells of this server. */
export type GuideFacts = {
  /** The network budget of a check. */
  readonly checkTimeoutMs: number
  /** The limits in force, by the tier's number. */
  readonly tiers: readonly TierLimits[]
  /** Every setting with its default; not what it is set to. */
  readonly settings: readonly ShownSetting[]
  /** Everything that `doctor` looks at. */
  readonly examinations: readonly ShownExamination[]
  readonly deployFiles: () => Promise<DeployFiles>
  /** What the program is made of; asked for until it is known, and kept. */
  readonly inventory: () => Promise<Inventory>
}

type Needs = {
  readonly pages: PageResponses
  readonly files: Pick<Assets, "path">
  readonly baseUrl: () => string
  readonly testDomain: string
  readonly guide: GuideFacts
}

/** The pages of the guide. None has a script. */
export function guideRoutes({ pages: { render }, files, baseUrl, testDomain, guide }: Needs) {
  const facts = (): ExampleFacts => ({ baseUrl: baseUrl(), checkTimeoutMs: guide.checkTimeoutMs })
  let kept: Inventory | null = null
  return new Elysia({ normalize: false })
    .get(ROUTES.docsGuide.path, ({ request }) => render(<GuideIndex />, request))
    .get(ROUTES.docsStart.path, ({ request }) => render(<StartPage facts={facts()} testDomain={testDomain} />, request))
    .get(ROUTES.docsKeys.path, ({ request }) => render(<KeysPage facts={facts()} />, request))
    .get(ROUTES.docsSignUpForms.path, ({ request }) =>
      render(<SignUpFormsPage facts={facts()} testDomain={testDomain} />, request),
    )
    .get(ROUTES.docsPolicies.path, ({ request }) => render(<PoliciesPage />, request))
    .get(ROUTES.docsDegraded.path, ({ request }) =>
      render(<DegradedPage facts={facts()} testDomain={testDomain} />, request),
    )
    .get(ROUTES.docsLimits.path, ({ request }) => render(<LimitsPage tiers={guide.tiers} />, request))
    .get(ROUTES.docsPrivacy.path, ({ request }) => render(<PrivacyPage />, request))
    .get(ROUTES.docsSelfHosting.path, async ({ request }) => {
      const { settings, examinations } = guide
      const deployFiles = await guide.deployFiles()
      const metricsFiles = {
        dashboard: await files.path("grafana-dashboard.json"),
        alerts: await files.path("prometheus-alerts.yml"),
      }
      return render(<SelfHostingPage {...{ settings, examinations, deployFiles, metricsFiles }} />, request)
    })
    .get(ROUTES.docsUpgrades.path, ({ request }) => render(<UpgradesPage />, request))
    .get(ROUTES.docsScaling.path, ({ request }) => render(<ScalingPage />, request))
    .get(ROUTES.docsLicences.path, async ({ request }) => {
      kept ??= await guide.inventory()
      return render(<LicencesPage inventory={kept} part={partAsked(request.url, kept)} />, request)
    })
}
