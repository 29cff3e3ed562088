/** What every container that we put into a member has in common: it has no rights on its node, and writes no file there. */
export const restrictedContainer = {
  securityContext: {
    allowPrivilegeEscalation: false,
    readOnlyRootFilesystem: true,
    runAsNonRoot: true,
    runAsUser: 65532,
    capabilities: { drop: ["ALL"] },
  },
  volumeMounts: [{ name: "kubeconfig", mountPath: "/etc/lifeboat", readOnly: true }],
} as const;
