import type { ServiceToken } from '../../cloud/contract/schemas.ts';
import { tokenState } from '../../cloud/contract/token-state.ts';
import type { Column } from '../../presentation/shapes/column.ts';
import { formatTime } from '../../text/format.ts';
import { printable } from '../../text/printable.ts';
import type { CreatedServiceToken } from './service-tokens.ts';

export const NO_TOKENS = 'The hub has no service tokens';

export function tokenColumns(now: Date): Column<ServiceToken>[] {
  return [
    { title: 'NAME', cell: ({ name }) => ({ text: printable(name) }) },
    { title: 'ROLE', cell: ({ role }) => ({ text: role }) },
    { title: 'TARGETS', cell: ({ targets }) => ({ text: printable(targets.join(', ')) }) },
    { title: 'STATE', cell: (token) => ({ text: tokenState(token, now) }) },
    { title: 'EXPIRES', cell: ({ expires_at }) => ({ text: formatTime(expires_at) }) },
    { title: 'CREATED', dropRank: 1, cell: ({ created_at }) => ({ text: formatTime(created_at) }) },
    { title: 'ID', dropRank: 2, cell: ({ id }) => ({ text: id }) },
  ];
}

export function tokenCreatedText({ name, role, targets, expires_at, authtoken }: CreatedServiceToken): string {
  return [
    `Created service token ${printable(name)}: ${role} of ${printable(targets.join(', '))}, valid until ${formatTime(expires_at)}`,
    'It is shown once. Set it as TOOL_AUTHTOKEN:',
    printable(authtoken),
  ].join('\n');
}

export function tokenRevokedText({ name, id }: ServiceToken): string {
  return `Revoked service token ${printable(name)} (${id}). Every instance of the hub refuses it within ten seconds.`;
}
