import { expect, test } from "bun:test"
import { CAUSES } from "../../../src/client/outcome.ts"
import README from "../../../src/client/packing/package-readme.md" with { type: "text" }
import { ROUTES } from "../../../src/contract/routes.ts"
import CLIENTS from "../../../src/http/site/docs/pages/clients.md" with { type: "text" }

test("the page of the server that the package names exists and has every cause", () => {
  expect(README.match(/`\/docs\/[^`]*`/g)).toEqual([`\`${ROUTES.docsClients.path}\``])
  for (const cause of Object.keys(CAUSES)) expect(CLIENTS).toContain(`\`${cause}\``)
})
