#!/usr/bin/env bash
# Writes the summary of OUT into the pull request NUMBER, into one comment that each push replaces.
set -euo pipefail
summary=$OUT/ci/summary.md
if [ ! -f "$summary" ]; then
    echo "::notice::there is no $summary, so nothing was measured; the step before says why"
    exit 0
fi
gh pr comment "$NUMBER" --edit-last --create-if-none --body-file "$summary" ||
    echo "::notice::no comment could be written (pull requests of forks have no right to); the summary of the job has the same"
