import { join } from 'node:path';
import type { InEffect } from '../../src/config/keys/in-effect.ts';
import type { Shape } from '../../src/config/schema/shape.ts';
import type { TrustRequest } from '../../src/config/trust/trust-request.ts';
import type { CheckRequest } from '../../src/operations/configuration/check/check.ts';
import type { StorageProfile } from '../../src/operations/configuration/check/try-storage.ts';
import type { ConfigurationDraft } from '../../src/operations/configuration/edit-configuration.ts';
import type { Fix, FixPlan } from '../../src/operations/configuration/fix.ts';
import type { SetUpPlan } from '../../src/operations/configuration/set-up.ts';
import type { ClientRequest } from '../../src/operations/load/script/client-program.ts';
import type { EstimatedWork, PlannedWork } from '../../src/operations/operation.ts';
import type { Planned } from '../../src/operations/planned.ts';
import { serverUrl } from '../../src/operations/servers/up/text.ts';
import type { RefreshTargets } from '../../src/operations/targets/targets.ts';
import type { Context } from '../../src/runtime/context.ts';
import type { ExpectedStep } from '../../src/state/overall-progress.ts';
import type { RunContext } from '../../src/state/runs.ts';
import { mapTexts } from '../../src/text/map-texts.ts';
import { withoutPasswords, withoutSecrets } from './frame/hide-secrets.ts';
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

/** Makes the context of an operation; reads the configuration on first use. */
export type CreateContext = (session: RunContext) => Context | Promise<Context>;

/** For operations on a configuration that may be missing or invalid. */
export type CheckSurroundings = Pick<CheckRequest, 'file' | 'environment' | 'cwd' | 'clock'>;

export interface OperationsOptions {
  /** Keeps a log even where the configuration does not. */
  debug?: boolean | undefined;
  /** Called with the configuration that a worker thread has read; `createContext` reports that of this one. */
  configurationRead?: (configuration: InEffect) => void;
}

/** Loads the code of each operation on its first use: the first frame needs none of it. */
export function lazyOperations(
  createContext: CreateContext,
  surroundings: CheckSurroundings,
  { debug = false, configurationRead = () => {} }: OperationsOptions = {},
) {
  const inContext =
    <Args extends unknown[], Result>(
      load: () => Promise<(context: Context, ...args: Args) => Result | Promise<Result>>,
    ) =>
    async (session: RunContext, ...args: Args): Promise<Result> => {
      const perform = await load();
      return withoutSecrets(session, createContext, (context) => perform(context, ...args));
    };
  /** For operations without a context, which an invalid configuration does not have. */
  const inSurroundings =
    <Args extends unknown[], Result>(
      load: () => Promise<(surroundings: CheckSurroundings, ...args: Args) => Result | Promise<Result>>,
    ) =>
    async (...args: Args): Promise<Result> =>
      (await load())(surroundings, ...args);
  const inSession =
    <Args extends unknown[], Result>(
      load: () => Promise<(surroundings: CheckSurroundings & RunContext, ...args: Args) => Result | Promise<Result>>,
    ) =>
    async (session: RunContext, ...args: Args): Promise<Result> =>
      (await load())({ ...surroundings, ...session }, ...args);
  /** For operations on URLs that are not in the configuration yet. */
  const withUrls =
    <Urls extends string | Record<string, string>, Result>(
      load: () => Promise<(surroundings: CheckSurroundings & RunContext, urls: Urls) => Result | Promise<Result>>,
    ) =>
    async (session: RunContext, urls: Urls): Promise<Result> => {
      const perform = await load();
      const texts = typeof urls === 'string' ? [urls] : Object.values(urls);
      return withoutPasswords(session, texts, (given) => perform({ ...surroundings, ...given }, urls));
    };
  // Of servers that this session has started, by their URLs: nothing else knows them.
  const passwords = new Map<string, string>();
  const notingPasswords = (session: RunContext): RunContext => ({
    ...session,
    report(event) {
      if (event.event === 'server') passwords.set(event.url, event.password);
      else session.report(event);
    },
  });
  const serverUrlOf = (url: string): string | null => {
    const password = passwords.get(url);
    return password === undefined ? null : serverUrl({ url, password });
  };
  const connection = () => import('../../src/operations/configuration/check/try-connection.ts');
  const draft = () => import('../../src/operations/configuration/edit-configuration.ts');
  return {
    async plan<Request, P extends Planned<Request, unknown>, Result>(
      session: RunContext,
      { work, steps, alike }: PlannedWork<Request, P, Result> & EstimatedWork<P>,
      request: NoInfer<Request>,
    ): Promise<ShownPlan<P>> {
      const { plan } = await work();
      return withoutSecrets(session, createContext, async (context) => {
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
      return withoutSecrets(notingPasswords(session), createContext, (context) => apply(context, sealed));
    },
    listSettings: async () => (await import('../../src/config/schema/list-settings.ts')).listSettings(),
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
      return withoutSecrets(session, createContext, (context) => refreshTargets(context, request));
    },
    withContents: inContext(async () => (await import('../../src/operations/targets/contents.ts')).withContents),
    checkTargets: inContext(async () => (await import('../../src/operations/targets/targets.ts')).checkTargets),
    /** Sizes of the newest local snapshots by target, oldest first. */
    listSizes: inContext(async () => (await import('../../src/operations/snapshots/sizes.ts')).listSizes),
    listSnapshots: inContext(async () => (await import('../../src/operations/snapshots/snapshots.ts')).listSnapshots),
    /** Stored bytes of its snapshots on this machine; null where there are too many to add up. */
    localDiskUse: inContext(async () => (await import('../../src/operations/snapshots/sizes.ts')).localDiskUse),
    annotate: inContext(async () => (await import('../../src/operations/snapshots/annotate/annotate.ts')).annotate),
    /** Keeps the throw-away database of the suggestion while `use` runs. */
    withSuggestion: inContext(async () => (await import('../../src/operations/sanitize/suggest.ts')).withSuggestion),
    reviewLedger: inContext(async () => (await import('../../src/operations/sanitize/ledger/review.ts')).reviewLedger),
    answerItem: inContext(async () => (await import('../../src/operations/sanitize/ledger/review.ts')).answerItem),
    verify: inContext(async () => (await import('../../src/operations/snapshots/verify/verify.ts')).verify),
    listPoints: inContext(async () => (await import('../../src/operations/back/list-points.ts')).listPoints),
    verifyRestore: inContext(
      async () => (await import('../../src/operations/snapshots/verify/verify-restore.ts')).verifyRestore,
    ),
    /** Keeps both states of the comparison while `use` runs. */
    withChanges: inContext(async () => (await import('../../src/operations/changes/changes.ts')).withChanges),
    listBranches: inContext(async () => (await import('../../src/operations/branch/list/list.ts')).listBranches),
    listHistory: inContext(async () => (await import('../../src/operations/history/list-history.ts')).listHistory),
    /** Runs psql or mysql on the destination; resolves with what `run` returns. */
    async openClient<Result>(
      session: RunContext,
      request: ClientRequest,
      run: (program: RunnableProgram) => Promise<Result>,
    ): Promise<Result> {
      const { withClient } = await import('../../src/operations/load/script/client-program.ts');
      const server = serverUrlOf(request.url);
      return withoutSecrets(session, createContext, (context) => withClient(context, { ...request, server }, run));
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
    listTables: inContext(async () => (await import('../../src/operations/snapshots/snapshot-tables.ts')).listTables),
    readRows: inContext(async () => (await import('../../src/operations/snapshots/rows/rows.ts')).readRows),
    diff: inContext(async () => (await import('../../src/operations/snapshots/diff/diff.ts')).diff),
    diffTable: inContext(async () => (await import('../../src/operations/snapshots/diff/table-diff.ts')).diffTable),
    push: inContext(async () => (await import('../../src/operations/snapshots/transfer/push.ts')).push),
    pull: inContext(async () => (await import('../../src/operations/snapshots/transfer/pull.ts')).pull),
    export: inContext(async () => (await import('../../src/operations/snapshots/transfer/export.ts')).exportSnapshot),
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
    saveSubset: inContext(async () => (await import('../../src/operations/subset/save-subset.ts')).saveSubset),
    draftSubset: inSurroundings(async () => (await import('../../src/operations/subset/save-subset.ts')).draftSubset),
    includeAllSchemas: inContext(
      async () => (await import('../../src/operations/build/include-schemas.ts')).includeAllSchemas,
    ),
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
