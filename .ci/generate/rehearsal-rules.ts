import { MYSQL_RULES } from '../../src/operations/rehearse/rules/mysql/rules.ts';
import { POSTGRES_RULES } from '../../src/operations/rehearse/rules/postgres/rules.ts';
import type { Rule } from '../../src/operations/rehearse/rules/rule.ts';

/** Returns docs/rehearsal-rules.md: the rules that warn of what is dangerous under load. */
export function rehearsalRules(): string {
  return `# Rules of rehearsals

Look up a rule by which \`tool rehearse\` warns of a migration.

\`\`\`sql
CREATE INDEX ON orders (customer_id); -- index_not_concurrent: writes to the table wait until the index is built
\`\`\`

It compares each statement with these rules. Only tables with rows from before the migration count. Dynamic SQL is not read; a rewrite by it is reported.

## PostgreSQL

${POSTGRES_RULES.map(lineOf).join('\n')}

## MySQL and MariaDB

↗ leads to the manual of MariaDB. Copied is what the server copied in the rehearsal.

${MYSQL_RULES.map(lineOf).join('\n')}
`;
}

function lineOf({ code, what, url, mariadbUrl }: Rule): string {
  return `- [\`${code}\`](${url})${mariadbUrl === undefined ? '' : ` [↗](${mariadbUrl})`}${what === undefined ? '' : `: ${what}`}`;
}
