import { editFile } from '../../../config/edit/edit-file.ts';
import type { Context } from '../../../runtime/context.ts';
import { toUserError } from '../../../runtime/errors.ts';
import { openCloud } from '../open-cloud.ts';

/** Ends the session of the hub, and removes its token from the file. */
export async function endHubSession(context: Context): Promise<void> {
  const { configuration, environment, report } = context;
  const { file, settings } = configuration;
  if (settings.authtoken === undefined || file === null || environment.TOOL_AUTHTOKEN) return;
  try {
    await (await openCloud(context, { impatient: true })).call('endSession');
  } catch (thrown) {
    const message = `Signed out here, but the hub was not told: ${toUserError(thrown).message}`;
    report({ event: 'warning', code: 'sign_out_not_told', message });
  }
  await editFile({ file, environment, edits: () => [{ path: ['authtoken'], value: undefined }] });
}
