import type { CommandModule, OptionSpec } from '../cli/command.ts';
import { agentCommand } from './agent.ts';
import { authLoginCommand } from './auth/login.ts';
import { authLogoutCommand } from './auth/logout.ts';
import { authStatusCommand } from './auth/status.ts';
import { authTokenCommand } from './auth/token.ts';
import { backCommand } from './back.ts';
import { branchCheckoutCommand } from './branch/checkout.ts';
import { branchCreateCommand } from './branch/create.ts';
import { branchDropCommand } from './branch/drop.ts';
import { branchHookCommand } from './branch/hook.ts';
import { branchListCommand } from './branch/list.ts';
import { branchPruneCommand } from './branch/prune.ts';
import { branchResetCommand } from './branch/reset.ts';
import { branchServeCommand } from './branch/serve.ts';
import { branchSwitchCommand } from './branch/switch.ts';
import { buildCommand } from './build.ts';
import { cloudApplyCommand } from './cloud/apply.ts';
import { cloudAuditCommand } from './cloud/audit.ts';
import { cloudShowCommand } from './cloud/show.ts';
import { cloudTokenCreateCommand } from './cloud/token/create.ts';
import { cloudTokenListCommand } from './cloud/token/list.ts';
import { cloudTokenRevokeCommand } from './cloud/token/revoke.ts';
import { completeCommand, completionCommand } from './completion.ts';
import { configCheckCommand } from './config/check.ts';
import { configDecryptCommand } from './config/decrypt.ts';
import { configEncryptCommand } from './config/encrypt.ts';
import { configImportCommand } from './config/import.ts';
import { configInitCommand } from './config/init.ts';
import { configSaveTargetCommand } from './config/save-target.ts';
import { configSchemaCommand } from './config/schema.ts';
import { configShowCommand } from './config/show.ts';
import { demoCommand } from './demo.ts';
import { hubMigrateCommand } from './hub/migrate.ts';
import { hubReconcileCommand } from './hub/reconcile.ts';
import { hubServeCommand } from './hub/serve.ts';
import { changesCommand } from './inspect/changes.ts';
import { historyCommand } from './inspect/history.ts';
import { rowsCommand } from './inspect/rows.ts';
import { targetCommand } from './inspect/target.ts';
import { targetsCommand } from './inspect/targets.ts';
import { noteCommand, pinCommand, tagCommand, unpinCommand } from './keep-and-share/annotate.ts';
import { diffCommand } from './keep-and-share/diff.ts';
import { exportCommand } from './keep-and-share/export.ts';
import { importCommand } from './keep-and-share/import.ts';
import { pruneCommand } from './keep-and-share/prune.ts';
import { pullCommand } from './keep-and-share/pull.ts';
import { pushCommand } from './keep-and-share/push.ts';
import { rmCommand } from './keep-and-share/rm.ts';
import { verifyCommand } from './keep-and-share/verify.ts';
import { keyCommand } from './key.ts';
import { linkCommand, unlinkCommand } from './link.ts';
import { loadCommand } from './load.ts';
import { mcpCommand } from './mcp.ts';
import { rehearseCommand } from './rehearse.ts';
import { resetCommand } from './reset.ts';
import { sanitizeCheckCommand } from './sanitize/check.ts';
import { sanitizeClassifyCommand } from './sanitize/classify.ts';
import { sanitizeCommand } from './sanitize/sanitize.ts';
import { saveCommand } from './save.ts';
import { downCommand, psCommand, upCommand } from './servers.ts';
import { subsetCommand } from './subset.ts';
import { trustCommand } from './trust.ts';
import { undoCommand } from './undo.ts';

export const COMMANDS: CommandModule[] = [
  buildCommand,
  loadCommand,
  sanitizeCommand,
  sanitizeClassifyCommand,
  sanitizeCheckCommand,
  saveCommand,
  backCommand,
  undoCommand,
  resetCommand,
  subsetCommand,
  pushCommand,
  pullCommand,
  diffCommand,
  exportCommand,
  importCommand,
  verifyCommand,
  pinCommand,
  unpinCommand,
  tagCommand,
  noteCommand,
  rmCommand,
  pruneCommand,
  targetsCommand,
  targetCommand,
  historyCommand,
  rowsCommand,
  changesCommand,
  branchCreateCommand,
  branchListCommand,
  branchResetCommand,
  branchServeCommand,
  branchSwitchCommand,
  branchCheckoutCommand,
  branchHookCommand,
  linkCommand,
  unlinkCommand,
  branchDropCommand,
  branchPruneCommand,
  upCommand,
  downCommand,
  psCommand,
  rehearseCommand,
  mcpCommand,
  configInitCommand,
  configSaveTargetCommand,
  configImportCommand,
  configCheckCommand,
  configShowCommand,
  configSchemaCommand,
  configEncryptCommand,
  configDecryptCommand,
  trustCommand,
  keyCommand,
  authLoginCommand,
  authStatusCommand,
  authLogoutCommand,
  authTokenCommand,
  cloudApplyCommand,
  cloudShowCommand,
  cloudAuditCommand,
  cloudTokenCreateCommand,
  cloudTokenListCommand,
  cloudTokenRevokeCommand,
  agentCommand,
  hubServeCommand,
  hubMigrateCommand,
  hubReconcileCommand,
  demoCommand,
  completionCommand,
  completeCommand,
];

export const FAMILIES: Record<string, string> = {
  branch: 'separate databases made from the base copy of a target',
  config: 'write, check, show and encrypt the configuration',
  auth: 'sign in, and store the cloud token',
  cloud: 'write and show the settings of the hub',
  token: 'create, list and revoke service tokens of the hub',
  hub: 'serve the targets and snapshots of a team',
};

export const GLOBAL_OPTIONS: OptionSpec[] = [
  { flags: '--config <file>', description: 'configuration file; also TOOL_CONFIG' },
  { flags: '--from <url>', description: 'source of the command, in place of a configured target' },
  { flags: '--to <url>', description: 'with --from: destination' },
  { flags: '--json', description: 'print JSON: a document, or an event per line' },
  { flags: '--no-tui', description: 'use no screens and no live view' },
  { flags: '-y, --yes', description: 'answer every question with yes; also TOOL_NO_CONFIRM=true or CI=true' },
  {
    flags: '--read-only',
    description: 'refuse changes of databases and snapshots, also in the screens',
  },
  { flags: '--trust', description: 'trust the present content of ./tool.yml' },
  { flags: '--debug', description: 'print external commands, keep a log, show the source of errors' },
];
