# SPDX-License-Identifier: Apache-2.0
"""OpenTelemetry's profiles, v1development: which fields a message has, and what they may refer to. Written from
the published field numbers, not from what yarn writes; an unknown field, another wire type, a number that is in no
table or a table that does not begin with an empty item is an error."""

import protobuf_wire

INT, FIXED, TEXT, BYTES, PACKED = "int", "fixed64", "text", "bytes", "packed"
# Message: field: (name, what it is: a scalar or a message's name, whether it repeats).
MESSAGES = {
    "ProfilesData": {1: ("resource_profiles", "ResourceProfiles", True), 2: ("dictionary", "Dictionary", False)},
    "ResourceProfiles": {1: ("resource", "Resource", False), 2: ("scope_profiles", "ScopeProfiles", True),
                         3: ("schema_url", TEXT, False)},
    "Resource": {1: ("attributes", "KeyValue", True), 2: ("dropped", INT, False)},
    "KeyValue": {1: ("key", TEXT, False), 2: ("value", "AnyValue", False)},
    "AnyValue": {1: ("string", TEXT, False), 2: ("bool", INT, False), 3: ("int", INT, False),
                 7: ("bytes", BYTES, False)},
    "ScopeProfiles": {1: ("scope", "Scope", False), 2: ("profiles", "Profile", True), 3: ("schema_url", TEXT, False)},
    "Scope": {1: ("name", TEXT, False), 2: ("version", TEXT, False)},
    "Profile": {1: ("sample_type", "ValueType", False), 2: ("samples", "Sample", True), 3: ("time", FIXED, False),
                4: ("duration", INT, False), 5: ("period_type", "ValueType", False), 6: ("period", INT, False),
                7: ("profile_id", BYTES, False), 11: ("attributes", PACKED, False)},
    "ValueType": {1: ("type", INT, False), 2: ("unit", INT, False)},
    "Sample": {1: ("stack", INT, False), 2: ("attributes", PACKED, False), 3: ("link", INT, False),
               4: ("values", PACKED, False)},
    "Dictionary": {1: ("mappings", "Mapping", True), 2: ("locations", "Location", True),
                   3: ("functions", "Function", True), 4: ("links", "Link", True), 5: ("strings", TEXT, True),
                   6: ("attributes", "Attribute", True), 7: ("stacks", "Stack", True)},
    "Mapping": {1: ("start", INT, False), 2: ("limit", INT, False), 3: ("offset", INT, False),
                4: ("filename", INT, False), 5: ("attributes", PACKED, False)},
    "Stack": {1: ("locations", PACKED, False)},
    "Location": {1: ("mapping", INT, False), 2: ("address", INT, False), 3: ("lines", "Line", True),
                 4: ("attributes", PACKED, False)},
    "Line": {1: ("function", INT, False), 2: ("line", INT, False), 3: ("column", INT, False)},
    "Function": {1: ("name", INT, False), 2: ("system_name", INT, False), 3: ("filename", INT, False),
                 4: ("start_line", INT, False)},
    "Link": {1: ("trace_id", BYTES, False), 2: ("span_id", BYTES, False)},
    "Attribute": {1: ("key", INT, False), 2: ("value", "AnyValue", False), 3: ("unit", INT, False)},
}
KINDS = {INT: 0, FIXED: 1}


def decode(message, data):
    result = {}
    for number, kind, value in protobuf_wire.fields(data):
        name, what, repeats = MESSAGES[message][number]
        if kind != KINDS.get(what, 2):
            raise ValueError(f"{message}.{name} has wire type {kind}")
        if what in MESSAGES:
            value = decode(what, value)
        elif what == TEXT:
            value = value.decode()
        elif what == PACKED:
            value = protobuf_wire.packed(value)
        if repeats:
            result.setdefault(name, []).append(value)
        elif name in result:
            raise ValueError(f"{message}.{name} stands there twice")
        else:
            result[name] = value
    return result


def attributes(pairs):
    found = {pair["key"]: next(iter(pair["value"].values())) for pair in pairs}
    if len(found) != len(pairs):
        raise ValueError("a key of a resource stands there twice")
    return found


def check(data):
    """[(resource, event, unit, [(weight, {attribute: value}, [function, innermost first])])]"""
    top = decode("ProfilesData", data)
    tables = top["dictionary"]
    texts = tables["strings"]
    assert texts[0] == "" and len(set(texts)) == len(texts)
    for name in ("mappings", "locations", "functions", "attributes", "stacks"):
        assert tables[name][0] == {}, name
        whole = [repr(item) for item in tables[name][1:]]
        assert name in ("locations",) or len(set(whole)) == len(whole), f"{name} has one item twice"
    assert tables["links"] == [{}]
    named = [None] + [(texts[one["key"]], next(iter(one["value"].values()))) for one in tables["attributes"][1:]]
    functions = [None] + [texts[function["name"]] for function in tables["functions"][1:]]
    for mapping in tables["mappings"][1:]:
        assert texts[mapping["filename"]] and all(named[i] for i in mapping.get("attributes", ()))
    for location in tables["locations"][1:]:
        assert location.get("mapping", 0) < len(tables["mappings"]) and location["lines"]
    stacks = [[functions[line["function"]] for index in stack.get("locations", ())
               for line in tables["locations"][index]["lines"]] for stack in tables["stacks"]]
    found = []
    for resource in top["resource_profiles"]:
        for scope in resource["scope_profiles"]:
            for profile in scope["profiles"]:
                samples = []
                for sample in profile["samples"]:
                    (value,) = sample["values"]
                    assert sample["stack"] and stacks[sample["stack"]]
                    its = [named[index] for index in sample["attributes"]]
                    assert len(dict(its)) == len(its)
                    samples.append((value, dict(its), stacks[sample["stack"]]))
                kind = profile["sample_type"]
                found.append((attributes(resource["resource"]["attributes"]), texts[kind["type"]],
                              texts[kind["unit"]], samples))
    return found
