import { POSTGRES_RULES } from '../../src/operations/rehearse/rules/postgres/rules.ts';

/** Returns docs/rehearsal-rules.md: the rules that warn of what is dangerous under load. */
export function rehearsalRules(): string {
  const lines = POSTGRES_RULES.map(({ code, what, url }) => `- [\`${code}\`](${url}): ${what}`);
  return `# Rules of rehearsals

\`\`\`sql
CREATE INDEX ON orders (customer_id); -- index_not_concurrent: writes to the table wait until the index is built
\`\`\`

\`tool rehearse\` compares each statement of a migration for PostgreSQL with these rules. Only tables with rows from before the migration count. A warning has the table, the effect, the safer form and the address below. Statements that a program puts together on the server are not read; a rewrite by them is reported.

${lines.join('\n')}
`;
}
