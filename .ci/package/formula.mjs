import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PLATFORMS } from './platforms.mjs';
import { releasesUrl } from './release.mjs';

const HOMEBREW = { darwin: 'macos', linux: 'linux', amd64: 'intel', arm64: 'arm' };

/**
 * Writes `homebrew-tap/Formula/tool.rb`, the content of a tap: a repository named homebrew-tap. It has the platforms
 * whose tarballs are in checksums.txt. https://docs.brew.sh/Formula-Cookbook
 */
export function makeFormula({ manifest: { version, license }, packages }) {
  const sums = new Map(
    readFileSync(join(packages, 'checksums.txt'), 'utf8')
      .trimEnd()
      .split('\n')
      .map((line) => line.split('  ').reverse()),
  );
  const places = Object.values(PLATFORMS)
    .map(({ system, architecture }) => ({ system, architecture, name: `tool_${version}_${system}_${architecture}` }))
    .map((place) => ({ ...place, sum: sums.get(`${place.name}.tar.gz`) }))
    .filter(({ system, sum }) => system in HOMEBREW && sum);
  if (places.length === 0) return;
  const blocks = [...Map.groupBy(places, ({ system }) => system)].map(([system, those]) => {
    const urls = those.map(
      ({ architecture, name, sum }) => `    on_${HOMEBREW[architecture]} do
      url "${releasesUrl()}/download/v${version}/${name}.tar.gz"
      sha256 "${sum}"
    end
`,
    );
    return `  on_${HOMEBREW[system]} do\n${urls.join('')}  end\n`;
  });
  mkdirSync(join(packages, 'homebrew-tap/Formula'), { recursive: true });
  const homepage = releasesUrl().replace(/\/releases$/, '');
  writeFileSync(
    join(packages, 'homebrew-tap/Formula/tool.rb'),
    formula({ version, license, homepage, blocks: blocks.join('\n') }),
  );
}

function formula({ version, license, homepage, blocks }) {
  return `class Tool < Formula
  desc "Snapshots of PostgreSQL and MySQL databases: safe, small, restored in seconds"
  homepage "${homepage}"
  version "${version}"
  license "${license}"

  depends_on "libpq" => :recommended

${blocks}
  def install
    # Apple's processors run signed programs only.
    system "codesign", "--force", "--sign", "-", "bin/tool" if OS.mac?
    bin.install "bin/tool"
    man1.install "share/man/man1/tool.1"
    bash_completion.install "share/bash-completion/completions/tool"
    zsh_completion.install "share/zsh/site-functions/_tool"
    fish_completion.install "share/fish/vendor_completions.d/tool.fish"
  end

  test do
    assert_equal version.to_s, shell_output("#{bin}/tool --version").chomp
  end
end
`;
}
