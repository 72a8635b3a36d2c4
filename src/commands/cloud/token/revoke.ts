import type { CommandModule, CommandSpec, InvocationOf, Outcome } from '../../../cli/command.ts';

const specification = {
  name: 'cloud token revoke',
  summary: 'revoke a service token',
  group: 'Hub',
  arguments: [{ name: 'token', description: 'id or name of the token', required: true }],
  options: [],
  examples: [{ command: 'tool cloud token revoke ci', does: 'revoke the token "ci"' }],
  json: 'document',
  writes: true,
} as const satisfies CommandSpec;

export const cloudTokenRevokeCommand: CommandModule = { ...specification, run };

async function run(invocation: InvocationOf<typeof specification>): Promise<Outcome> {
  const { revokeServiceToken } = await import('../../../operations/cloud/service-tokens.ts');
  const { tokenRevokedText } = await import('../../../presentation/cloud-audit.ts');
  const token = await revokeServiceToken(await invocation.context(), invocation.arguments.token);
  return { data: token, text: tokenRevokedText(token) };
}
