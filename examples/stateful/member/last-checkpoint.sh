#!/bin/sh
# Writes the last complete checkpoint of a job into the ConfigMap that flink-in-the-member.yaml reads. It speaks to the member that
# kubectl speaks to, and can be repeated at any time:
#
#   last-checkpoint.sh DIRECTORY NAMESPACE JOB-ID
#
# DIRECTORY is what all clusters share, mounted here. For a bucket put its own program in the place of `ls`.
set -eu
directory=$1 namespace=$2 job=$3
# A checkpoint is complete when it has its metadata; the number tells the order.
last=$(ls -d "$directory/$namespace/$job"/checkpoints/chk-*/_metadata 2>/dev/null | sed 's|/_metadata$||; s|.*/||' | sort -t- -k2n | tail -1)
[ -n "$last" ] || { echo "job $job has no complete checkpoint in $directory" >&2; exit 1; }
kubectl -n "$namespace" get configmap flink-checkpoints >/dev/null 2>&1 || kubectl -n "$namespace" create configmap flink-checkpoints
kubectl -n "$namespace" patch configmap flink-checkpoints --type merge -p "{\"data\":{\"$job\":\"$last\"}}"
