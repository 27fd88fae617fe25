# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
#
# Sourced by the scripts that build Debian roots: scripts/check-debian and tests/kernel/image.

# 12, 13, bookworm, trixie, forky or sid.
suite_of() {
	case $1 in
	12 | bookworm) echo bookworm ;;
	13 | trixie) echo trixie ;;
	forky | sid) echo "$1" ;;
	*) return 1 ;;
	esac
}

# The mirrors in this machine's apt sources.
mirror() {
	apt-get indextargets --format '$(REPO_URI)' 2>/dev/null | grep -m 1 -E '/debian/?$'
}

security_mirror() {
	apt-get indextargets --format '$(REPO_URI)' 2>/dev/null | grep -m 1 -E '/debian-security/?$'
}

# How this machine reaches its mirror. A mirror that is no longer updated has expired release files.
apt_options() {
	apt-config dump | grep -E '^Acquire::[^ ]*(Proxy|CaInfo|Verify)' || true
	echo 'Acquire::Check-Valid-Until "false";'
}

# bootstrap ROOT SUITE PACKAGES: makes a Debian with these packages, able to install more. Its output goes to ROOT.log.
# Status 1: it could not be made; the reason is on standard output.
bootstrap() {
	local root=$1 suite=$2 packages=$3 url script=()
	command -v debootstrap >/dev/null || { echo 'debootstrap is not installed'; return 1; }
	url=$(mirror) || { echo 'no Debian mirror in the apt sources of this machine'; return 1; }
	mkdir -p "$(dirname "$root")"
	rm -rf "$root.new"
	# A debootstrap older than the suite does not know its name.
	[ -e "/usr/share/debootstrap/scripts/$suite" ] || script=(/usr/share/debootstrap/scripts/sid)
	debootstrap --variant=minbase --include="ca-certificates,$packages" "$suite" "$root.new" "$url" "${script[@]}" \
		>"$root.log" 2>&1 ||
		{ echo "debootstrap failed, see $root.log: $(tail -n 1 "$root.log")"; return 1; }
	mv "$root.new" "$root"
}

# reach_mirror ROOT: gives the root the same access to the mirrors as this machine.
reach_mirror() {
	apt_options >"$1/etc/apt/apt.conf.d/90reach-mirror"
	cp -L /etc/resolv.conf /etc/hosts "$1/etc/"
	cp -L /etc/ssl/certs/ca-certificates.crt "$1/etc/ssl/certs/" 2>/dev/null || true
}
