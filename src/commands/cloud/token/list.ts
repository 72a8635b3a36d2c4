import { defineCommand } from '../../../cli/command.ts';

export const cloudTokenListCommand = defineCommand({
  name: 'cloud token list',
  summary: 'list service tokens, newest first',
  group: 'Hub',
  examples: [{ command: 'tool cloud token list', does: 'list roles, targets and expiry, without tokens' }],
  json: 'document',
  async run(invocation) {
    const { listServiceTokens } = await import('../../../operations/cloud/service-tokens.ts');
    const { formatTable } = await import('../../../cli/printers/table.ts');
    const { NO_TOKENS, tokenColumns } = await import('../../../operations/cloud/service-tokens-text.ts');
    const context = await invocation.context();
    const tokens = await listServiceTokens(context);
    const columns = tokenColumns(context.clock());
    const text = tokens.length > 0 ? formatTable(columns, tokens, invocation.tableOptions()) : NO_TOKENS;
    return { data: { tokens }, text };
  },
});
