package harbour

import rego.v1

planned contains change if {
	some change in input.plan.resource_changes
	change.change.actions != ["delete"]
}

few_berths contains message if {
	berths := [change | some change in planned; change.name == "berth"]
	count(berths) > 3
	message := sprintf("%d berths are planned, and three are enough", [count(berths)])
}

named_quays contains message if {
	some change in planned
	change.name == "quay"
	object.get(change.change.after.input, "name", "") == ""
	message := sprintf("%s has no name", [change.address])
}
