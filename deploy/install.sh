#!/bin/sh
# Installs tool @VERSION@ for this system, without root:
#   curl -fsSL @RELEASES@/latest/download/install.sh | sh
#
#   TOOL_INSTALL_DIR      folder for the program; default: /usr/local/bin where you may write, or ~/.local/bin
#   TOOL_INSTALL_URL      address or folder of the files, such as a mirror
#   TOOL_INSTALL_SIGNERS  file of allowed signers (ssh-keygen): the checksums must be signed by "release" in it
set -eu

fail() {
  printf 'install.sh: %s\n' "$*" >&2
  exit 1
}

has() {
  command -v "$1" > /dev/null 2>&1
}

detect() {
  case $(uname -s) in
    Linux) system=linux ;;
    Darwin) system=darwin ;;
    *) fail "there is no executable for $(uname -s). With Node 22.15 or newer, install the npm package" ;;
  esac
  case $(uname -m) in
    x86_64 | amd64) architecture=amd64 ;;
    aarch64 | arm64) architecture=arm64 ;;
    *) fail "there is no executable for $(uname -m). With Node 22.15 or newer, install the npm package" ;;
  esac
  # A shell that Rosetta translates runs on Apple's processor.
  if [ "$system" = darwin ] && [ "$(sysctl -n sysctl.proc_translated 2> /dev/null || true)" = 1 ]; then
    architecture=arm64
  fi
  if [ "$system" = linux ] && ldd --version 2>&1 | grep -q musl; then
    fail 'the executable needs glibc, and this system has musl. Install the npm package: apk add nodejs npm'
  fi
}

choose_folder() {
  folder=${TOOL_INSTALL_DIR:-}
  if [ -z "$folder" ]; then
    if [ -w /usr/local/bin ]; then
      folder=/usr/local/bin
    else
      folder=${HOME:?}/.local/bin
    fi
  fi
  mkdir -p "$folder" || fail "cannot create $folder. Choose another folder with TOOL_INSTALL_DIR"
  [ ! -d "$folder/tool" ] || fail "$folder/tool is a folder. Choose another folder with TOOL_INSTALL_DIR"
  # In the same folder, so that the program appears at once.
  unfinished=$(mktemp -d "$folder/.tool-install.XXXXXX") || fail "cannot write to $folder"
  trap 'rm -rf "$unfinished"' EXIT
  trap 'exit 130' INT
  trap 'exit 143' HUP TERM
}

download() {
  case $url in
    http://* | https://*)
      if has curl; then
        curl -fsSL --retry 2 -o "$unfinished/$1" "$url/$1" || fail "cannot download $url/$1"
      elif has wget; then
        wget -q -O "$unfinished/$1" "$url/$1" || fail "cannot download $url/$1"
      else
        fail 'neither curl nor wget is installed'
      fi
      ;;
    *) cp "${url#file://}/$1" "$unfinished/$1" || fail "cannot read ${url#file://}/$1" ;;
  esac
}

sum_of() {
  if has sha256sum; then
    sha256sum < "$1"
  elif has shasum; then
    shasum -a 256 < "$1"
  elif has openssl; then
    openssl dgst -sha256 -r < "$1"
  else
    fail 'nothing to verify the download with: install sha256sum, shasum or openssl'
  fi
}

verify_signature() {
  has ssh-keygen || fail 'nothing to verify the signature with: install ssh-keygen'
  download checksums.txt.sig
  ssh-keygen -Y verify -q -f "$TOOL_INSTALL_SIGNERS" -I release -n tool-release -s "$unfinished/checksums.txt.sig" \
    < "$unfinished/checksums.txt" > /dev/null || fail 'checksums.txt is not signed by an allowed signer'
}

verify() {
  found=$(sum_of "$unfinished/$1") || exit 1
  [ "${found%% *}" = "$wanted" ] || fail "$1 differs from its checksum: incomplete, or not the file of the release"
}

install_program() {
  tar -xzf "$unfinished/$name.tar.gz" -C "$unfinished" "$name/bin/tool" || fail "cannot unpack $name.tar.gz"
  program=$unfinished/$name/bin/tool
  # Apple's processors run signed programs only.
  if [ "$system" = darwin ]; then
    codesign --force --sign - "$program" || fail 'cannot sign the program with codesign'
  fi
  "$program" --version > /dev/null || fail 'the program does not run here: it needs glibc 2.28 or newer'
  mv -f "$program" "$folder/tool"
}

main() {
  version=@VERSION@
  url=${TOOL_INSTALL_URL:-@RELEASES@/download/v$version}
  for needed in uname tar awk mktemp; do
    has "$needed" || fail "$needed is not installed"
  done
  detect
  name=tool_${version}_${system}_$architecture
  choose_folder
  download checksums.txt
  [ -z "${TOOL_INSTALL_SIGNERS:-}" ] || verify_signature
  wanted=$(awk -v name="$name.tar.gz" '$2 == name { print $1 }' "$unfinished/checksums.txt")
  [ -n "$wanted" ] || fail "this release has no executable for $system $architecture"
  download "$name.tar.gz"
  verify "$name.tar.gz"
  install_program
  printf 'Installed tool %s in %s\n' "$version" "$folder"
  case :${PATH:-}: in
    *":$folder:"*) ;;
    *) printf 'It is not on your PATH. Add this line to the profile of your shell:\n  export PATH="%s:%s"\n' "$folder" "\$PATH" ;;
  esac
}

# Last, so that an incomplete download of this script runs nothing.
main "$@"
