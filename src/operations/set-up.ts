import type { FileRequest } from '../config/config-file.ts';
import type { Edit } from '../config/edit/edit.ts';
import { editFile } from '../config/edit/edit-file.ts';
import { editText } from '../config/edit/edit-text.ts';
import { initConfiguration } from '../config/init.ts';
import { initialConfiguration } from '../config/initial.ts';
import { absolutePath } from '../config/paths.ts';
import type { EngineContext } from '../engines/engine.ts';
import { engineForUrl } from '../engines/registry.ts';
import { EXIT, UserError } from '../errors.ts';
import { localRunner } from '../process/local.ts';
import { redact } from '../process/redact.ts';
import type { TargetRow } from '../results.ts';
import { encryptValues } from './secrets.ts';

/** What a first configuration says. */
export interface SetUp {
  /** Where it is saved. */
  file: string;
  /** Name of its one target. */
  target: string;
  source: string;
  /** Empty for none. */
  destination: string;
}

export type Tried = Pick<TargetRow, 'engine' | 'status' | 'server_version' | 'size_bytes' | 'error'> & {
  /** Without password. */
  display: string;
};

/** Opens a connection as a target would; a URL that cannot be understood is an error, a server that is away is not. */
export async function tryUrl(context: Omit<EngineContext, 'runner'>, text: string): Promise<Tried> {
  const engine = engineForUrl(text);
  const url = engine.parseUrl(text);
  const runner = localRunner({ environment: context.environment, report: context.report });
  const { status, server_version, size_bytes, error } = await engine.probe({ ...context, runner }, url);
  return { engine: engine.id, display: url.display, status, server_version, size_bytes, error };
}

/** Refuses a destination that is the source; whatever else could be wrong is found when it is loaded. */
export function checkDestination({ source, destination }: Pick<SetUp, 'source' | 'destination'>): void {
  if (destination === '') return;
  const [from, to] = [source, destination].map((text) => engineForUrl(text).parseUrl(text));
  if (from?.engine === to?.engine && from?.display === to?.display) {
    throw new UserError('The destination is the source: a load would replace it', {
      code: 'destination_is_source',
      exit: EXIT.refused,
      hint: 'Name another database, such as one of this machine.',
    });
  }
}

/** The file as it will be written, without secrets. */
export function previewSetUp(setUp: SetUp): string {
  const text = initialConfiguration({ secretKey: 'made when the file is written', schemaUrl: 'tool.schema.json' });
  return redact(editText(text, editsOf(setUp)));
}

/** Writes the configuration, with its passwords encrypted; never over a file that is there. */
export async function writeSetUp(request: FileRequest, setUp: SetUp): Promise<{ file: string }> {
  const { environment, cwd } = request;
  const path = absolutePath(setUp.file, { from: cwd, environment });
  const { file } = await initConfiguration({ file: path, force: false, environment, cwd });
  await editFile(file, () => editsOf(setUp));
  await encryptValues({ file, environment, cwd, keys: [], dryRun: false });
  return { file };
}

function editsOf({ target, source, destination }: SetUp): Edit[] {
  const path = ['targets', target, 'snapshot'];
  return [
    { path: [...path, 'src_url'], value: source },
    ...(destination === '' ? [] : [{ path: [...path, 'dst_url'], value: destination }]),
  ];
}
