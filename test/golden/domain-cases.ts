import type { DomainCase } from "../support/domain-case.ts"
import { FAULT_CASES } from "./domain-cases-faults.ts"
import { FORWARDER_CASES } from "./domain-cases-forwarders.ts"
import { GATEWAY_CASES } from "./domain-cases-gateways.ts"
import { HOST_CASES } from "./domain-cases-hosts.ts"
import { LISTED_CASES } from "./domain-cases-listed.ts"
import { MAILBOX_CASES } from "./domain-cases-mailboxes.ts"
import { NAME_CASES } from "./domain-cases-names.ts"
import { PATTERN_CASES } from "./domain-cases-patterns.ts"
import { PROVIDER_CASES } from "./domain-cases-providers.ts"
import { SUITE_CASES } from "./domain-cases-suites.ts"
import { TENANT_CASES } from "./domain-cases-tenants.ts"

/** All domains of the golden file, in its order. */
export const DOMAIN_CASES: readonly DomainCase[] = [
  ...SUITE_CASES,
  ...MAILBOX_CASES,
  ...FORWARDER_CASES,
  ...PROVIDER_CASES,
  ...GATEWAY_CASES,
  ...HOST_CASES,
  ...NAME_CASES,
  ...FAULT_CASES,
  ...TENANT_CASES,
  ...LISTED_CASES,
  ...PATTERN_CASES,
]
