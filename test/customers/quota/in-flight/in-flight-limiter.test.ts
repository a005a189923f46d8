import { LocalInFlightLimiter } from "../../../../src/customers/quota/in-flight/in-flight-limiter.ts"
import { inFlightSuite } from "./in-flight-limiter.suite.ts"

inFlightSuite(() => new LocalInFlightLimiter())
