import { readConfigFile } from '../../config/config-file.ts';
import { untrustedPart } from '../../config/trust/require-trust.ts';
import { trustRequestOf } from '../../config/trust/trust-request.ts';
import { UntrustedConfiguration } from '../../config/trust/untrusted-configuration.ts';
import type { TrustedFile } from '../../results/configuration/configuration-results.ts';
import { UserError } from '../../runtime/errors.ts';

interface TrustFileRequest {
  environment: NodeJS.ProcessEnv;
  cwd: string;
}

/** The effects of `./tool.yml`. Throws `configuration_untrusted`, which is the question, until the file is trusted. */
export async function readTrustedFile({ environment, cwd }: TrustFileRequest): Promise<TrustedFile> {
  const found = await readConfigFile({ environment, cwd });
  if (!found?.inFolder) {
    throw new UserError('no_configuration', `There is no tool.yml in ${cwd}`, {
      hint: 'Run the command in the folder of the file. A file of --config needs no trust.',
    });
  }
  const untrusted = await untrustedPart(found, { environment });
  if (untrusted) throw new UntrustedConfiguration(untrusted);
  const { file, digest, effects } = await trustRequestOf(found, environment);
  return { file, digest, effects };
}
