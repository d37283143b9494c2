; A component that is used is called.
(jsx_opening_element name: (identifier) @component)
(jsx_opening_element name: (member_expression property: (_) @component) @callee)
(jsx_self_closing_element name: (identifier) @component)
(jsx_self_closing_element name: (member_expression property: (_) @component) @callee)
