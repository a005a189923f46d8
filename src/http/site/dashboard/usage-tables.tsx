/** @jsxImportSource preact */
import { CATEGORY_NAMES, type Category } from "../../../contract/categories.ts"
import type { Usage } from "../../../contract/usage-schema.ts"
import type { Key } from "../../../customers/keys/keys.ts"
import type { KeyUsage } from "../../../customers/usage/key-usage.ts"
import { SITE_KEY } from "../../../customers/usage/measures.ts"
import { grouped } from "../figures.ts"
import { Table } from "../layout.tsx"
import { pathOfKey } from "./key-paths.ts"
import { LastFour } from "./key-words.tsx"

type Days = { readonly daily: Usage["daily"] }

/** Every day by category. The page's script draws its chart from the cells, whose `data-` name what they hold. */
export function DayTable({ daily }: Days) {
  return (
    <Table caption="Checks of each day by category" columns={["Day", "Units", ...CATEGORY_NAMES, "too fast"]}>
      {daily.map(({ date, used, by_category: counts, rate_limited: tooFast }) => (
        <tr key={date} data-day={date}>
          <th scope="row" class="short">
            <time dateTime={date}>{date}</time>
          </th>
          <Figure of={used} />
          {CATEGORY_NAMES.map(category => (
            <td key={category} class="number" data-category={category} data-count={counts[category]}>
              {grouped(counts[category])}
            </td>
          ))}
          <Figure of={tooFast} />
        </tr>
      ))}
    </Table>
  )
}

/** How many checks ended in each category, the most frequent first. */
export function CategoryTotals({ daily }: Days) {
  const totals = CATEGORY_NAMES.map(category => ({ category, count: sumOf(daily, category) }))
  const all = totals.reduce((sum, { count }) => sum + count, 0)
  const found = totals.filter(({ count }) => count > 0).sort((one, other) => other.count - one.count)
  return (
    <Table caption="Checks by category" columns={["Category", "Checks", "Part"]}>
      {found.map(({ category, count }) => (
        <tr key={category}>
          <th scope="row">
            <code>{category}</code>
          </th>
          <Figure of={count} />
          <td class="number">{partOf(count, all)}</td>
        </tr>
      ))}
      <tr>
        <th scope="row">All</th>
        <Figure of={all} />
        <td class="number">{all === 0 ? "–" : "100 %"}</td>
      </tr>
    </Table>
  )
}

const sumOf = (daily: Usage["daily"], category: Category): number =>
  daily.reduce((sum, { by_category: counts }) => sum + counts[category], 0)

function partOf(count: number, all: number): string {
  const percent = Math.round((count / all) * 100)
  return percent === 0 ? "under 1 %" : `${percent} %`
}

type KeyTotalsProps = { readonly keyUsages: readonly KeyUsage[]; readonly keys: readonly Key[] }

/** What each key did. Units of publishable keys are of their own quota. */
export function KeyTotals({ keyUsages, keys }: KeyTotalsProps) {
  const keysById = new Map(keys.map(key => [key.id, key]))
  return (
    <Table caption="Use by key" columns={["Key", "Units", "Checks", "Deep checks", "Batch items", "Too fast"]}>
      {keyUsages.map(({ keyId, used, checks, deepChecks, batchItems, rateLimited }) => (
        <tr key={keyId}>
          <th scope="row" class="name">
            <WhoUsed keyId={keyId} known={keysById.get(keyId)} />
          </th>
          <Figure of={used} />
          <Figure of={checks} />
          <Figure of={deepChecks} />
          <Figure of={batchItems} />
          <Figure of={rateLimited} />
        </tr>
      ))}
    </Table>
  )
}

function WhoUsed({ keyId, known }: { readonly keyId: string; readonly known: Key | undefined }) {
  if (keyId === SITE_KEY.id) return <>Tried on this site, without a key</>
  if (known === undefined) return <a href={pathOfKey(keyId)}>An older key</a>
  return (
    <>
      <a href={pathOfKey(keyId)}>
        <bdi>{known.name}</bdi>
      </a>{" "}
      <LastFour of={known} />
      {known.revokedAtMs === null ? "" : " revoked"}
      {known.kind === "publishable" ? " publishable" : ""}
    </>
  )
}

function Figure({ of }: { readonly of: number }) {
  return <td class="number">{grouped(of)}</td>
}
