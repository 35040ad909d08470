// Says what is wrong with the OpenAPI description on standard input, one line each, and exits 1; or
// names its version.

import { readFileSync } from "node:fs";
import { Validator } from "@seriousme/openapi-schema-validator";

const validator = new Validator();
const { valid, errors } = await validator.validate(JSON.parse(readFileSync(0, "utf8")));
if (!valid) {
    for (const error of [errors].flat()) console.log(error.instancePath, error.message);
    process.exit(1);
}
validator.resolveRefs();
console.log(`valid OpenAPI ${validator.version}`);
