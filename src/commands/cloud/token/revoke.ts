import { defineCommand } from '../../../cli/command.ts';

export const cloudTokenRevokeCommand = defineCommand({
  name: 'cloud token revoke',
  summary: 'revoke a service token',
  group: 'Hub',
  arguments: [{ name: 'token', description: 'id or name of the token', required: true }],
  examples: [{ command: 'tool cloud token revoke ci', does: 'revoke the token "ci"' }],
  json: 'document',
  writes: true,
  async run(invocation) {
    const { revokeServiceToken } = await import('../../../operations/cloud/service-tokens.ts');
    const { tokenRevokedText } = await import('../../../operations/cloud/service-tokens-text.ts');
    const token = await revokeServiceToken(await invocation.context(), invocation.arguments.token);
    return { data: token, text: tokenRevokedText(token) };
  },
});
