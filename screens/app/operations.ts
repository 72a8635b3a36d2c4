import { join } from 'node:path';
import type { InEffect } from '../../src/config/keys/in-effect.ts';
import type { Shape } from '../../src/config/schema/shape.ts';
import type { TrustRequest } from '../../src/config/trust/trust-request.ts';
import type { StorageProfile } from '../../src/operations/configuration/check/try-storage.ts';
import type { ConfigurationDraft } from '../../src/operations/configuration/edit-configuration.ts';
import type { Fix, FixPlan } from '../../src/operations/configuration/fix.ts';
import type { SetUpPlan } from '../../src/operations/configuration/set-up.ts';
import type { ClientRequest } from '../../src/operations/load/script/client-program.ts';
import type { EstimatedWork, PlannedWork } from '../../src/operations/operation.ts';
import type { Planned } from '../../src/operations/planned.ts';
import { serverUrl } from '../../src/operations/servers/up/text.ts';
import type { RefreshTargets } from '../../src/operations/targets/targets.ts';
import type { ExpectedStep } from '../../src/state/overall-progress.ts';
import type { RunContext } from '../../src/state/runs.ts';
import { mapTexts } from '../../src/text/map-texts.ts';
import { withoutSecrets } from './frame/hide-secrets.ts';
import {
  type CheckSurroundings,
  type CreateContext,
  createOperationBinder,
  type OperationBinder,
} from './operation-binder.ts';
import type { RunnableProgram } from './runnable-program.ts';

/** The operations as the screens see them. */
export type Operations = ReturnType<typeof lazyOperations>;

export interface ShownPlan<P extends Planned<unknown, unknown>> {
  /** Without secrets. */
  shown: P['plan'];
  sealed: P;
  /** The steps with the durations of earlier runs; absent where the operation names none. */
  steps?: ExpectedStep[];
}

export interface ShownFix {
  plan: FixPlan;
  /** Shape of the configuration, by which secrets are hidden. */
  shape: Shape;
}

export interface OperationsOptions {
  /** Keeps a log even where the configuration does not. */
  debug?: boolean | undefined;
  /** Called with the configuration that a worker thread has read; `createContext` reports that of this one. */
  configurationRead?: (configuration: InEffect) => void;
}

/** Passwords of the servers that this session has started, by their URLs: nothing else knows them. */
type ServerPasswords = Map<string, string>;

/** Loads the code of each operation on its first use: the first frame needs none of it. */
export function lazyOperations(
  createContext: CreateContext,
  surroundings: CheckSurroundings,
  options: OperationsOptions = {},
) {
  const binder = createOperationBinder(createContext, surroundings);
  const passwords = new Map<string, string>();
  return {
    ...plannedOperations(binder, passwords),
    ...targetOperations(binder, options),
    ...databaseOperations(binder),
    ...snapshotOperations(binder),
    ...serverOperations(binder, passwords),
    ...configurationOperations(binder),
    ...draftOperations(binder),
    ...setUpOperations(binder),
    ...userOperations(binder),
  };
}

function plannedOperations({ createContext }: OperationBinder, passwords: ServerPasswords) {
  return {
    async plan<Request, P extends Planned<Request, unknown>, Result>(
      session: RunContext,
      { work, steps, alike }: PlannedWork<Request, P, Result> & EstimatedWork<P>,
      request: NoInfer<Request>,
    ): Promise<ShownPlan<P>> {
      const { plan } = await work();
      return await withoutSecrets(session, createContext, async (context) => {
        const sealed = await plan(context, request);
        const shown = context.hide ? mapTexts(sealed.plan, context.hide) : sealed.plan;
        const runs = alike?.(shown);
        if (!runs) return { shown, sealed };
        const { withEarlierTimes } = await import('../../src/operations/history/earlier-times.ts');
        return { shown, sealed, steps: withEarlierTimes(context, steps?.(shown) ?? [], runs) };
      });
    },
    async apply<Request, P extends Planned<Request, unknown>, Result>(
      session: RunContext,
      { work }: PlannedWork<Request, P, Result>,
      sealed: NoInfer<P>,
    ): Promise<Result> {
      const { apply } = await work();
      const report: RunContext['report'] = (event) => {
        if (event.event === 'server') passwords.set(event.url, event.password);
        else session.report(event);
      };
      return await withoutSecrets({ ...session, report }, createContext, (context) => apply(context, sealed));
    },
  };
}

function targetOperations(
  { createContext, surroundings, inContext }: OperationBinder,
  { debug = false, configurationRead = () => {} }: OperationsOptions,
) {
  return {
    listTargetsAfterRun: inContext(
      async () => (await import('../../src/operations/targets/targets.ts')).listTargetsAfterRun,
    ),
    /** `apart`: in a worker thread. */
    async refreshTargets(session: RunContext, request: RefreshTargets & { apart?: boolean }): Promise<void> {
      if (request.apart) {
        const { refreshInThread } = await import('../../src/operations/refresh-thread.ts');
        const { file: config, environment, cwd } = surroundings;
        const place = { config, environment, cwd, debug };
        if (await refreshInThread({ ...request, signal: session.signal, place, configurationRead })) return;
      }
      const { refreshTargets } = await import('../../src/operations/targets/targets.ts');
      return await withoutSecrets(session, createContext, (context) => refreshTargets(context, request));
    },
    withContents: inContext(async () => (await import('../../src/operations/targets/contents.ts')).withContents),
    checkTargets: inContext(async () => (await import('../../src/operations/targets/targets.ts')).checkTargets),
  };
}

function databaseOperations({ inContext }: OperationBinder) {
  return {
    /** Keeps the throw-away database of the suggestion while `use` runs. */
    withSuggestion: inContext(async () => (await import('../../src/operations/sanitize/suggest.ts')).withSuggestion),
    reviewLedger: inContext(async () => (await import('../../src/operations/sanitize/ledger/review.ts')).reviewLedger),
    answerItem: inContext(async () => (await import('../../src/operations/sanitize/ledger/review.ts')).answerItem),
    listPoints: inContext(async () => (await import('../../src/operations/back/list-points.ts')).listPoints),
    /** Keeps both states of the comparison while `use` runs. */
    withChanges: inContext(async () => (await import('../../src/operations/changes/changes.ts')).withChanges),
    listBranches: inContext(async () => (await import('../../src/operations/branch/list/list.ts')).listBranches),
    listHistory: inContext(async () => (await import('../../src/operations/history/list-history.ts')).listHistory),
  };
}

function snapshotOperations({ inContext }: OperationBinder) {
  return {
    /** Sizes of the newest local snapshots by target, oldest first. */
    listSizes: inContext(async () => (await import('../../src/operations/snapshots/sizes.ts')).listSizes),
    listSnapshots: inContext(async () => (await import('../../src/operations/snapshots/snapshots.ts')).listSnapshots),
    /** Stored bytes of its snapshots on this machine; null where there are too many to add up. */
    localDiskUse: inContext(async () => (await import('../../src/operations/snapshots/sizes.ts')).localDiskUse),
    annotate: inContext(async () => (await import('../../src/operations/snapshots/annotate/annotate.ts')).annotate),
    verify: inContext(async () => (await import('../../src/operations/snapshots/verify/verify.ts')).verify),
    verifyRestore: inContext(
      async () => (await import('../../src/operations/snapshots/verify/verify-restore.ts')).verifyRestore,
    ),
    listTables: inContext(async () => (await import('../../src/operations/snapshots/snapshot-tables.ts')).listTables),
    readRows: inContext(async () => (await import('../../src/operations/snapshots/rows/rows.ts')).readRows),
    diff: inContext(async () => (await import('../../src/operations/snapshots/diff/diff.ts')).diff),
    diffTable: inContext(async () => (await import('../../src/operations/snapshots/diff/table-diff.ts')).diffTable),
    push: inContext(async () => (await import('../../src/operations/snapshots/transfer/push.ts')).push),
    pull: inContext(async () => (await import('../../src/operations/snapshots/transfer/pull.ts')).pull),
    export: inContext(async () => (await import('../../src/operations/snapshots/transfer/export.ts')).exportSnapshot),
  };
}

function serverOperations({ createContext, inContext }: OperationBinder, passwords: ServerPasswords) {
  const serverUrlOf = (url: string): string | null => {
    const password = passwords.get(url);
    return password === undefined ? null : serverUrl({ url, password });
  };
  return {
    /** Runs psql or mysql on the destination; resolves with what `run` returns. */
    async openClient<Result>(
      session: RunContext,
      request: ClientRequest,
      run: (program: RunnableProgram) => Promise<Result>,
    ): Promise<Result> {
      const { withClient } = await import('../../src/operations/load/script/client-program.ts');
      const server = serverUrlOf(request.url);
      return await withoutSecrets(session, createContext, (context) =>
        withClient(context, { ...request, server }, run),
      );
    },
    listServers: inContext(async () => (await import('../../src/operations/servers/list/list.ts')).listServers),
    /** The URL of a server with its password; `null` unless this session has started it. */
    serverUrl: serverUrlOf,
    /** Ends the servers of this session that are not detached. */
    async endServers(): Promise<void> {
      if (passwords.size === 0) return;
      const { removeOwnServers } = await import('../../src/operations/servers/records.ts');
      const { signal } = new AbortController();
      await removeOwnServers(await createContext({ report: () => {}, signal }));
    },
  };
}

function configurationOperations({ surroundings, inContext, inSession, inSurroundings }: OperationBinder) {
  return {
    listSettings: async () => (await import('../../src/config/schema/list-settings.ts')).listSettings(),
    checkWithFixes: inSession(async () => {
      const { checkWithFixes } = await import('../../src/operations/configuration/fix.ts');
      return (given) => checkWithFixes({ ...given, offline: false });
    }),
    async planConfigurationFix(fix: Fix): Promise<ShownFix> {
      const [{ planConfigurationFix }, { shapeOf }, { settingsSchema }] = await Promise.all([
        import('../../src/operations/configuration/fix.ts'),
        import('../../src/config/schema/shape.ts'),
        import('../../src/config/schema/settings.ts'),
      ]);
      return { plan: await planConfigurationFix(surroundings, fix), shape: shapeOf(settingsSchema) };
    },
    applyFix: inSurroundings(
      async () => (await import('../../src/operations/configuration/fix.ts')).applyConfigurationFix,
    ),
    saveSubset: inContext(async () => (await import('../../src/operations/subset/save-subset.ts')).saveSubset),
    draftSubset: inSurroundings(async () => (await import('../../src/operations/subset/save-subset.ts')).draftSubset),
    includeAllSchemas: inContext(
      async () => (await import('../../src/operations/build/include-schemas.ts')).includeAllSchemas,
    ),
  };
}

function draftOperations({ inSession, inSurroundings }: OperationBinder) {
  const draft = () => import('../../src/operations/configuration/edit-configuration.ts');
  return {
    openDraft: inSurroundings(async () => (await draft()).openDraft),
    /** With a time limit of its own. */
    listSourceNames: inSession(
      async () => (await import('../../src/operations/configuration/source-names.ts')).sourceNames,
    ),
    changeDraft: inSurroundings(async () => (await draft()).changeConfigurationDraft),
    addChange: inSurroundings(async () => (await draft()).addChange),
    redoDraft: inSurroundings(async () => (await draft()).redoDraft),
    diffDraft: async (changed: ConfigurationDraft) => (await draft()).diffDraft(changed),
    saveDraft: inSurroundings(async () => (await draft()).saveDraft),
  };
}

function setUpOperations({ surroundings, inSession, inSurroundings, withUrls }: OperationBinder) {
  const connection = () => import('../../src/operations/configuration/check/try-connection.ts');
  return {
    findEngines: inSession(async () => (await import('../../src/operations/configuration/check/check.ts')).findEngines),
    async findProjectDatabase() {
      const { findProjectDatabase } = await import('../../src/operations/configuration/project-database.ts');
      return findProjectDatabase(surroundings.cwd);
    },
    listDatabases: withUrls(async () => (await connection()).listDatabases),
    trySource: withUrls(async () => (await connection()).trySource),
    tryDestination: withUrls(async () => (await connection()).tryDestination),
    async listCliProfiles(): Promise<string[]> {
      const { readAwsProfiles } = await import('../../src/config/aws-profiles.ts');
      return [...(await readAwsProfiles(surroundings.environment)).keys()];
    },
    /** Resolves with the bucket's display name. */
    async tryStorage(session: RunContext, profile: StorageProfile): Promise<string> {
      const { tryStorage } = await import('../../src/operations/configuration/check/try-storage.ts');
      return tryStorage(profile, session);
    },
    planSetUp: inSurroundings(async () => (await import('../../src/operations/configuration/set-up.ts')).planSetUp),
    /** Writes the file and sets its variables for the rest of the session. */
    async applySetUp(plan: SetUpPlan): Promise<void> {
      const { applySetUp } = await import('../../src/operations/configuration/set-up.ts');
      await applySetUp(surroundings, plan);
      for (const [name, value] of Object.entries(plan.variables)) surroundings.environment[name] ??= value;
    },
  };
}

function userOperations({ surroundings, inContext }: OperationBinder) {
  return {
    listProviders: inContext(
      async () => (await import('../../src/operations/cloud/sign-in/sign-in-choices.ts')).listSignIns,
    ),
    signIn: inContext(async () => (await import('../../src/operations/cloud/sign-in/sign-in-choices.ts')).signInWith),
    /** Remembers that the configuration of the current folder is trusted. */
    async trust(request: TrustRequest): Promise<void> {
      const { rememberTrust } = await import('../../src/config/trust/trust-store.ts');
      await rememberTrust(request, surroundings.environment);
    },
    /** Keeps the configuration of the current folder trusted while the user edits a file that it names. */
    async keepTrust(edit: () => Promise<void>): Promise<void> {
      const { saveTrust } = await import('../../src/config/trust/trust-store.ts');
      const { cwd, environment } = surroundings;
      await saveTrust({ file: join(cwd, 'tool.yml'), environment }, edit);
    },
  };
}
