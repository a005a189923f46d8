import { type RefreshFixture, refreshFixture, smallBundle } from "./refresh-fixture.ts"

/** The names of the first window. */
export const FIRST = Array.from({ length: 60 }, (_, at) => `first${at}.com`)

/** A fixture with a window source, `fresh`, whose first window was taken. */
export async function windowFixture() {
  const fixture = refreshFixture({
    stock: smallBundle({
      bundled: { set: "disposable", trust: "high", names: ["known.com", "visited.com"] },
      fresh: { set: "disposable", trust: "high", names: [], isDownloaded: true, window: { days: 180, names: 1000 } },
      extra: { set: "disposable", trust: "low", names: [], isDownloaded: true },
      offices: { set: "government", trust: "high", names: [], isDownloaded: true },
      visited: { set: "popular", trust: "curated", names: ["visited.com"] },
      providers: { set: "personal", trust: "curated", names: ["post.de"] },
      firms: { set: "organisation", trust: "curated", names: ["firm.com"] },
      schools: { set: "education", trust: "high", names: ["school.org"] },
      bureaus: { set: "government", trust: "curated", names: ["bureau.org"] },
      safe: { set: "never_disposable", trust: "curated", names: ["stripe.com"] },
      towns: { set: "organisation", trust: "high", names: Array.from({ length: 20 }, (_, at) => `town${at}.com`) },
    }),
  })
  fixture.serve("fresh", FIRST)
  await fixture.refresh()
  return fixture
}

/** The days on which the window source has seen a name first and last, by the pack in use. */
export const daysOf = (fixture: RefreshFixture, name: string) =>
  fixture
    .inUse()
    ?.listingsOf(name)
    .filter(({ source }) => source === "fresh")
    .map(({ since, lastSeen }) => [since, lastSeen])
