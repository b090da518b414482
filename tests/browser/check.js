// Checks that count, and tell what was found.
export class Checks {
    constructor(title) {
        this.title = title;
        this.passed = 0;
        this.failed = 0;
    }

    that(holds, claim, found) {
        if (holds) {
            this.passed += 1;
            console.log(`ok    ${this.title}: ${claim}`);
        } else {
            this.failed += 1;
            console.error(`FAIL  ${this.title}: ${claim}${found === undefined ? "" : `; found ${JSON.stringify(found)}`}`);
        }
    }
}
