import { testFaults } from "./fault-tests.ts"

// `test/customers/crash.test.ts` kills servers at their quotas more often than the short form of this one.
testFaults(name => name !== "kill_quota")
