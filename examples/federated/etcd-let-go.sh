#!/bin/sh
# The hook of etcd.yaml: removes the member that leaves from etcd, and reports that etcd let it go. It does one step and can be
# repeated at any time; run it until it prints "nothing leaves".
set -eu
domain=etcd.default.fed.svc.example.com
leaving=$(kubectl get configmap store-peers -o jsonpath='{.data.leaving}')
pod=${leaving%/*}
[ -n "$pod" ] || { echo "nothing leaves"; exit 0; }
# Without a name it has not started; its address tells which it is.
id=$(etcdctl --discovery-srv $domain member list | awk -F', ' -v url="http://$pod.$domain:2380" '$4 == url { print $1 }')
[ -z "$id" ] || etcdctl --discovery-srv $domain member remove "$id"
lifeboat statefulset let-go store "$pod"
