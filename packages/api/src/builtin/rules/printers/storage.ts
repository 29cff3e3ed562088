/** Tables of volumes and where they come from. */
import type { JsonObject } from "../../../json.ts";
import { items, part, partOf, text, textMap, texts } from "../fields.ts";
import {
  countPrinter,
  defaultMarked,
  nameOf,
  objectAge,
  plainPrinter,
  printer,
  type Printers,
  textPrinter,
} from "../printer.ts";

const persistentVolume = printer(
  [
    "Name:name",
    "Capacity",
    "Access Modes",
    "Reclaim Policy",
    "Status",
    "Claim",
    "StorageClass",
    "VolumeAttributesClass",
    "Reason",
    "Age",
    "VolumeMode*",
  ],
  (object, now) => {
    const spec = partOf(object, "spec");
    const claim = part(spec, "claimRef");
    return [
      nameOf(object),
      text(partOf(spec, "capacity"), "storage") || "0",
      accessModes(texts(spec, "accessModes")),
      text(spec, "persistentVolumeReclaimPolicy"),
      phaseOf(object),
      claim === undefined ? "" : `${text(claim, "namespace")}/${text(claim, "name")}`,
      storageClassOf(object),
      optionalText(spec["volumeAttributesClassName"], "<unset>"),
      text(partOf(object, "status"), "reason"),
      objectAge(object, now),
      optionalText(spec["volumeMode"], "<unset>"),
    ];
  },
);

const persistentVolumeClaim = printer(
  [
    "Name:name",
    "Status",
    "Volume",
    "Capacity",
    "Access Modes",
    "StorageClass",
    "VolumeAttributesClass",
    "Age",
    "VolumeMode*",
  ],
  (object, now) => {
    const spec = partOf(object, "spec");
    const status = partOf(object, "status");
    const volume = text(spec, "volumeName");
    return [
      nameOf(object),
      phaseOf(object),
      volume,
      volume === "" ? "" : text(partOf(status, "capacity"), "storage") || "0",
      volume === "" ? "" : accessModes(texts(status, "accessModes")),
      storageClassOf(object),
      optionalText(spec["volumeAttributesClassName"], "<unset>"),
      objectAge(object, now),
      optionalText(spec["volumeMode"], "<unset>"),
    ];
  },
);

const MODE_LETTERS: readonly (readonly [string, string])[] = [
  ["ReadWriteOnce", "RWO"],
  ["ReadOnlyMany", "ROX"],
  ["ReadWriteMany", "RWX"],
  ["ReadWriteOncePod", "RWOP"],
];

function accessModes(modes: readonly string[]): string {
  const letters = MODE_LETTERS.filter(([mode]) => modes.includes(mode)).map(([, short]) => short);
  return letters.join(",");
}

function phaseOf(object: JsonObject): string {
  const deleted = text(partOf(object, "metadata"), "deletionTimestamp") !== "";
  return deleted ? "Terminating" : text(partOf(object, "status"), "phase");
}

function storageClassOf(object: JsonObject): string {
  const annotations = textMap(partOf(object, "metadata"), "annotations");
  const legacy = annotations["volume.beta.kubernetes.io/storage-class"];
  return legacy ?? text(partOf(object, "spec"), "storageClassName");
}

function optionalText(value: unknown, otherwise: string): string {
  return typeof value === "string" ? value : otherwise;
}

const storageClass = printer(
  ["Name:name", "Provisioner", "ReclaimPolicy", "VolumeBindingMode", "AllowVolumeExpansion", "Age"],
  (object, now) => [
    defaultMarked(object, "storageclass.kubernetes.io/is-default-class"),
    text(object, "provisioner"),
    text(object, "reclaimPolicy") || "Delete",
    text(object, "volumeBindingMode") || "Immediate",
    object["allowVolumeExpansion"] === true,
    objectAge(object, now),
  ],
);

const csiDriver = printer(
  [
    "Name:name",
    "AttachRequired:boolean",
    "PodInfoOnMount:boolean",
    "StorageCapacity:boolean",
    "TokenRequests",
    "RequiresRepublish:boolean",
    "Modes",
    "Age",
  ],
  (object, now) => {
    const spec = partOf(object, "spec");
    const tokens = spec["tokenRequests"];
    const audiences = items(spec, "tokenRequests").map((request) => text(request, "audience"));
    return [
      nameOf(object),
      spec["attachRequired"] !== false,
      spec["podInfoOnMount"] === true,
      spec["storageCapacity"] === true,
      Array.isArray(tokens) ? audiences.join(",") : "<unset>",
      spec["requiresRepublish"] === true,
      texts(spec, "volumeLifecycleModes").join(",") || "<none>",
      objectAge(object, now),
    ];
  },
);

const volumeAttachment = printer(
  ["Name:name", "Attacher:name", "PV", "Node", "Attached:boolean", "Age"],
  (object, now) => {
    const spec = partOf(object, "spec");
    return [
      nameOf(object),
      text(spec, "attacher"),
      text(partOf(spec, "source"), "persistentVolumeName"),
      text(spec, "nodeName"),
      partOf(object, "status")["attached"] === true,
      objectAge(object, now),
    ];
  },
);

export const storagePrinters: Printers = {
  "v1/PersistentVolume": persistentVolume,
  "v1/PersistentVolumeClaim": persistentVolumeClaim,
  "storage.k8s.io/v1/StorageClass": storageClass,
  "storage.k8s.io/v1/CSIDriver": csiDriver,
  "storage.k8s.io/v1/CSINode": countPrinter(
    "Drivers",
    (object) => items(partOf(object, "spec"), "drivers").length,
  ),
  "storage.k8s.io/v1/CSIStorageCapacity": plainPrinter,
  "storage.k8s.io/v1/VolumeAttachment": volumeAttachment,
  "storage.k8s.io/v1/VolumeAttributesClass": textPrinter("DriverName", (object) =>
    text(object, "driverName"),
  ),
};
