import { describe, expect, it } from "vitest";
import { judgeAddressBy } from "./dialled-addresses.ts";

const judge = judgeAddressBy({ allowsLoopback: false });
const lenient = judgeAddressBy({ allowsLoopback: true });

describe("an address for a member", () => {
  it.each([
    "10.0.0.1",
    "172.16.3.4",
    "192.168.1.1",
    "100.64.0.1",
    "8.8.8.8",
    "169.253.255.255",
    "2001:db8::1",
    "fd12:3456::1",
    "::ffff:10.0.0.1",
    "64:ff9b::0a00:1",
    "1:2:3:4:5:6:7:8",
  ])("%s may be dialled", (address) => {
    expect(judge(address)).toBeUndefined();
  });

  it.each([
    ["127.0.0.1", "loopback"],
    ["127.255.255.254", "loopback"],
    ["0.0.0.0", "loopback"],
    ["::", "loopback"],
    ["::1", "loopback"],
    ["::1%lo", "loopback"],
    ["::ffff:127.0.0.1", "loopback"],
    ["::ffff:7f00:1", "loopback"],
    ["::127.0.0.1", "loopback"],
    ["64:ff9b::127.0.0.1", "loopback"],
    ["2002:7f00:1::", "loopback"],
  ])("%s is refused unless loopback is allowed", (address, word) => {
    expect(judge(address)).toContain(word);
    expect(judge(address)).toContain("--allow-loopback-members");
    expect(lenient(address)).toBeUndefined();
  });

  it.each([
    ["169.254.169.254", "link-local"],
    ["169.254.0.1", "link-local"],
    ["::ffff:169.254.169.254", "link-local"],
    ["::ffff:a9fe:a9fe", "link-local"],
    ["0:0:0:0:ffff:0:169.254.169.254", "link-local"],
    ["2002:a9fe:a9fe::1", "link-local"],
    ["fe80::1", "link-local"],
    ["febf::1%eth0", "link-local"],
    ["100.100.100.200", "metadata"],
    ["168.63.129.16", "metadata"],
    ["fd00:ec2::254", "metadata"],
    ["224.0.0.1", "multicast"],
    ["255.255.255.255", "multicast"],
    ["ff02::1", "multicast"],
  ])("%s is always refused", (address, word) => {
    expect(judge(address)).toContain(word);
    expect(lenient(address)).toContain(word);
  });

  it.each([
    "",
    "localhost",
    "127.1",
    "0177.0.0.1",
    "2130706433",
    "1.2.3.256",
    ":::",
    "1::2::3",
    "1:2:3:4:5:6:7",
    "12345::",
    "::1.2.3",
  ])("%j is no address, and refused", (address) => {
    expect(lenient(address)).toContain("no address");
  });
});
