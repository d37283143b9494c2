(public_field_definition name: (_) @name value: [(arrow_function) (function_expression) (generator_function)]) @function
(abstract_class_declaration name: (_) @name) @class
(abstract_method_signature name: (_) @name) @prototype
(method_signature name: (_) @name) @prototype
(function_signature name: (_) @name) @prototype
(interface_declaration name: (_) @name) @interface
(type_alias_declaration name: (_) @name) @type
(enum_declaration name: (_) @name) @class
(internal_module name: (_) @name) @module
(module name: (_) @name) @module
(internal_module body: (statement_block (export_statement declaration: (lexical_declaration
  (variable_declarator name: (identifier) @name) @constant))))
(export_statement declaration: (abstract_class_declaration) @wrapped) @wrap
(export_statement declaration: (interface_declaration) @wrapped) @wrap
(export_statement declaration: (type_alias_declaration) @wrapped) @wrap
(export_statement declaration: (enum_declaration) @wrapped) @wrap
(export_statement declaration: (internal_module) @wrapped) @wrap
(export_statement declaration: (function_signature) @wrapped) @wrap
(export_statement declaration: (ambient_declaration) @wrapped) @wrap
(ambient_declaration (_) @wrapped) @wrap
