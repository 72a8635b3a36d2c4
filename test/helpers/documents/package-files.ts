import { build } from '../../../.ci/build.mjs';
import { makePackages } from '../../../.ci/package.mjs';

export type PackageKind = 'executable' | 'tarball' | 'npm' | 'debian' | 'rpm' | 'apk' | 'installer';

/** What `npm run package` makes of these sources, in dist/packages/, compressed as fast as possible: twice at its best takes minutes. */
export async function packagesOf(kinds: PackageKind[], packages?: string): Promise<Record<PackageKind, string>> {
  await build();
  const made = await makePackages({
    kinds,
    platform: `${process.platform}-${process.arch}`,
    node: process.execPath,
    packages,
    level: 0,
  });
  return made as Record<PackageKind, string>;
}
