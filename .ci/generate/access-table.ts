import { type Caller, type Decision, decide, type Subject, type TargetAccess } from '../../hub/permissions/access.ts';
import type { HubRoute } from '../../src/cloud/contract/route.ts';
import { ROUTES, type RouteName } from '../../src/cloud/contract/routes.ts';

/** Relations of a caller to the target of a request, with their columns in docs/hub.md. */
export const RELATIONS = {
  'no token': 'No valid token, or a disabled user.',
  'other team': "Person in none of the target's groups.",
  reader: 'Person in one of the `sso_groups`: sanitized snapshots only.',
  originals: 'Person in one of the `original_groups`.',
  member: 'Member in none of the `builder_groups`.',
  builder: 'Member in one of the `builder_groups`, or any where there are none.',
  owner: 'Person in an owner group.',
  auditor: 'Person in an auditor group.',
  'reader token': 'Service token that reads the target.',
  'builder token': 'Service token that builds the target.',
  agent: 'The same, with a claimed build.',
  'other token': 'Service token that builds another target.',
  'removed target': 'Owner, after the removal of the target.',
} as const;

export type Relation = keyof typeof RELATIONS;

/** Every route; a creation is decided on by another rule than a change. */
export type Operation = RouteName | 'putTarget (create)';

export const OPERATIONS = Object.keys(ROUTES).flatMap((name) =>
  name === 'putTarget' ? [name, 'putTarget (create)'] : [name],
) as Operation[];

export function routeOf(operation: Operation): HubRoute {
  return ROUTES[operation === 'putTarget (create)' ? 'putTarget' : operation];
}

export type AccessTable = Record<Operation, Record<Relation, Decision>>;

/** Decisions of the hub by what its routes declare. */
function accessTable(): AccessTable {
  const relations = Object.keys(RELATIONS) as Relation[];
  const rows = OPERATIONS.map((operation) => {
    const decisions = relations.map((relation) => [relation, decisionOf(operation, relation)] as const);
    return [operation, Object.fromEntries(decisions)] as const;
  });
  return Object.fromEntries(rows) as AccessTable;
}

const TARGET: TargetAccess = {
  id: 'target',
  reader_groups: ['readers'],
  original_groups: ['original readers'],
  builder_groups: ['developers'],
};

function decisionOf(operation: Operation, relation: Relation): Decision {
  const target = relation === 'removed target' ? null : TARGET;
  const creates = operation === 'putTarget (create)';
  const subject: Subject = { target, holder: TARGET, creates, claimedBy: 'agent' };
  return decide(routeOf(operation).access, callerOf(relation), subject);
}

function callerOf(relation: Relation): Caller | null {
  const person = (role: Caller['role'], groups: string[] = []): Caller => ({
    ...{ kind: 'user', id: relation, tokenId: relation, name: relation, subject: relation, issuer: null },
    ...{ role, groups, auditor: relation === 'auditor', targetIds: [], expiresAt: new Date(0) },
  });
  const service = (role: Caller['role'], targetId: string): Caller => ({
    ...person(role),
    ...{ kind: 'service', targetIds: [targetId] },
  });
  switch (relation) {
    case 'no token':
      return null;
    case 'other team':
    case 'auditor':
      return person('user');
    case 'reader':
      return person('user', TARGET.reader_groups);
    case 'originals':
      return person('user', TARGET.original_groups);
    case 'member':
      return person('member', ['other developers']);
    case 'builder':
      return person('member', TARGET.builder_groups);
    case 'owner':
    case 'removed target':
      return person('owner', ['owners']);
    case 'reader token':
      return service('reader', TARGET.id);
    case 'builder token':
    case 'agent':
      return service('builder', TARGET.id);
    case 'other token':
      return service('builder', 'another target');
    default:
      return relation satisfies never;
  }
}

const SIGNS: Record<Decision, string> = {
  permitted: '✓',
  omitted: '○',
  refused: '–',
  unknown: '?',
  'token required': '✗',
};

const BEGIN = '<!-- permissions: begin, written by npm run generate -->';
const END = '<!-- permissions: end -->';

/** The page with the table of the declarations. */
export function withAccessTable(page: string): string {
  const [before, rest = ''] = page.split(BEGIN);
  const [, after] = rest.split(END);
  if (after === undefined) throw new Error('docs/hub.md lacks the marks of the table of permissions');
  return `${before}${BEGIN}\n\n${markdownOf(accessTable())}\n\n${END}${after}`;
}

function markdownOf(table: AccessTable): string {
  const relations = Object.keys(RELATIONS) as Relation[];
  const signsOf = (operation: Operation): string[] => relations.map((relation) => SIGNS[table[operation][relation]]);
  // Operations with the same answers share a row.
  const groups = Map.groupBy(OPERATIONS, (operation) => signsOf(operation).join());
  const rows = [...groups.values()].map((operations) => [
    operations.map((operation) => `\`${operation}\``).join(', '),
    ...operations.slice(0, 1).flatMap(signsOf),
  ]);
  const callers = relations.map((relation) => [`\`${relation}\``, RELATIONS[relation]]);
  return `${aligned([['caller', 'who'], ...callers])}\n\n${aligned([['operation', ...relations], ...rows])}`;
}

/** Reads the table back, for the test that compares it with a hub. */
export function readAccessTable(page: string): AccessTable {
  const [, rest = ''] = page.split(BEGIN);
  const [, decided = ''] = (rest.split(END)[0] ?? '').split('| operation');
  const lines = `| operation${decided}`.split('\n').filter((line) => line.startsWith('|'));
  const cells = lines.map((line) =>
    line
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim()),
  );
  const [[, ...relations] = [], , ...rows] = cells;
  const decisions = Object.fromEntries(Object.entries(SIGNS).map(([decision, sign]) => [sign, decision]));
  return Object.fromEntries(
    rows.flatMap(([operations = '', ...signs]) => {
      const decided = Object.fromEntries(relations.map((relation, index) => [relation, decisions[signs[index] ?? '']]));
      return operations.split(', ').map((operation) => [operation.replaceAll('`', ''), decided]);
    }),
  ) as AccessTable;
}

function aligned(rows: string[][]): string {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  const line = (cells: string[]): string => `| ${cells.map((cell, at) => cell.padEnd(widths[at] ?? 0)).join(' | ')} |`;
  const [head = [], ...others] = rows;
  return [line(head), line(widths.map((width) => '-'.repeat(width))), ...others.map(line)].join('\n');
}
